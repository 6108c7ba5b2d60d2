// What other processes, and the next start, know of tokens that were revoked.
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { provisionerEndpoint } from './database.ts';

/** Kinds of the revocations that the shared server has written about a token, a principal or a place. */
export async function writtenRevocations(key: string): Promise<string[]> {
  const control = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
  const rows = await control.run((sql) =>
    sql<{ kind: string }[]>`select kind from control.revocations where key = ${key} order by kind`
  ).finally(() => control.end());
  return rows.map(({ kind }) => kind);
}
