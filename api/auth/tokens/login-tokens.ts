// Ends the access tokens of a login that ends.
import type { Sql } from '../../../storage/connections/pool.ts';
import { insertRevocations, type RevocationRow } from '../../../storage/control/revocations.ts';
import type { ServerSchema } from '../../../storage/sessions.ts';
import type { Deps } from '../../deps.ts';

/**
 * Revokes the access tokens of sessions that `sql`, a transaction in their database, ends; `apply` is for after its commit.
 * Where they are in another database they end first: when one of the two fails, the login is there to be ended again.
 */
export async function revokeSessionTokens(
  sql: Sql,
  { databases, revocations }: Pick<Deps, 'databases' | 'revocations'>,
  { schema, sessions }: { schema: ServerSchema; sessions: Iterable<string> },
): Promise<RevocationRow[]> {
  const rows = Array.from(sessions, (id) => revocations.row('jti', id));
  if (schema === 'control') await insertRevocations(sql, rows);
  else await databases.control.transaction((control) => insertRevocations(control, rows));
  return rows;
}
