// The names under which those who ask appear in the audit logs and to hooks.
import { findActor } from '../../storage/control/actors.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import { findUserEmail } from '../../storage/workspace/user-email.ts';
import type { Deps } from '../deps.ts';
import type { RequestOrigin } from '../contract/route.ts';
import type { Principal } from '../scope.ts';

/** Who asks for a change, and by which request. */
export interface Caller {
  principal: Principal;
  origin: RequestOrigin;
  now: Date;
}

/** Username or email of an admin. `sql` is on the control database. */
export async function actorName(sql: Sql, { id }: Principal): Promise<string> {
  // An admin who was removed a moment ago is still known by the id.
  return await findActor(sql, id) ?? id;
}

/** The same for a change that is made in a workspace's database: asked before its transaction opens. */
export async function readActorName(
  { databases }: Pick<Deps, 'databases'>,
  principal: Principal,
): Promise<string> {
  return await databases.control.run((sql) => actorName(sql, principal));
}

/** Email of an end-user, username or email of an admin; undefined for one who is gone. `app` is on the app's schema. */
export async function principalName(
  { databases }: Pick<Deps, 'databases'>,
  app: Pick<Connection, 'run'>,
  { id, role }: { id: string; role: string },
): Promise<string | undefined> {
  return role === 'user'
    ? await app.run((sql) => findUserEmail(sql, id))
    : await databases.control.run((sql) => findActor(sql, id));
}
