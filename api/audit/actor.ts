// Callers, and the names under which audit logs and hooks show them.
import { findActor } from '../../storage/control/actors.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import { findUserFacts } from '../../storage/workspace/user-facts.ts';
import type { Deps } from '../deps.ts';
import type { RequestOrigin } from '../contract/route.ts';
import type { Principal } from '../scope.ts';

/** The principal that asks for a change, with its request. */
export interface Caller {
  principal: Principal;
  origin: RequestOrigin;
  now: Date;
}

/** The username or email of an admin. `sql` is on the control database. */
export async function actorName(sql: Sql, { id }: Principal): Promise<string> {
  // The admin may have been removed a moment ago.
  return await findActor(sql, id) ?? id;
}

/** The same, for a change in a workspace's database: to be called before its transaction opens. */
export async function readActorName(
  { databases }: Pick<Deps, 'databases'>,
  principal: Principal,
): Promise<string> {
  return await databases.control.run((sql) => actorName(sql, principal));
}

/**
 * The email of an end-user, or the username or email of an admin; undefined for one who does not exist any more. `app`
 * is on the app's schema.
 */
export async function principalName(
  { databases }: Pick<Deps, 'databases'>,
  app: Pick<Connection, 'run'>,
  { id, role }: { id: string; role: string },
): Promise<string | undefined> {
  return role === 'user'
    ? (await app.run((sql) => findUserFacts(sql, [id]))).get(id)?.email
    : await databases.control.run((sql) => findActor(sql, id));
}
