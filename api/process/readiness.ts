// Readiness: `/readyz` checks the database that requests depend on.
import { pingServer } from '../../storage/control/server.ts';
import type { Sandbox } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';

/**
 * Pings the control database; also reports the sandbox that hooks run in, and what keeps them within their shares. Throws `503 unavailable` when the database does not
 * respond.
 */
export async function checkReadiness(
  { databases, sandbox }: Pick<Deps, 'databases' | 'sandbox'>,
): Promise<{ ready: boolean; database: 'ok'; sandbox: Sandbox['level']; hook_shares: Sandbox['shares'] }> {
  await databases.control.run(pingServer);
  return { ready: true, database: 'ok', sandbox: sandbox.level, hook_shares: sandbox.shares };
}
