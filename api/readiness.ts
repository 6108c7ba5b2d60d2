// Whether the parts that requests need do answer.
import { pingServer } from '../storage/server.ts';
import type { Deps } from './deps.ts';

/** Asks the control database. Throws `503 unavailable` when it does not answer. */
export async function checkReadiness(
  { databases }: Pick<Deps, 'databases'>,
): Promise<{ ready: boolean; database: 'ok' }> {
  await databases.control.run(pingServer);
  return { ready: true, database: 'ok' };
}
