// Whether what requests depend on answers: `/readyz`.
import { pingServer } from '../../storage/control/server.ts';
import type { Sandbox } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';

/**
 * Asks the control database; also says what wall hooks are behind. Throws `503 unavailable` when the database does not
 * answer.
 */
export async function checkReadiness(
  { databases, sandbox }: Pick<Deps, 'databases' | 'sandbox'>,
): Promise<{ ready: boolean; database: 'ok'; sandbox: Sandbox['level'] }> {
  await databases.control.run(pingServer);
  return { ready: true, database: 'ok', sandbox: sandbox.level };
}
