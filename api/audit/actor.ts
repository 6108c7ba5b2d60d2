// The name under which an admin appears in the audit logs.
import { findActor } from '../../storage/actors.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { Deps } from '../deps.ts';
import type { Origin } from '../route.ts';
import type { Principal } from '../scope.ts';

/** Who asks for a change, and by which request. */
export interface By {
  principal: Principal;
  origin: Origin;
  now: Date;
}

/** Username or email of an admin. `sql` is on the control database. */
export async function actorIn(sql: Sql, { id }: Principal): Promise<string> {
  // An admin who was removed a moment ago is still known by the id.
  return await findActor(sql, id) ?? id;
}

/** The same for a change that is made in a workspace's database: asked before its transaction opens. */
export async function actorOf({ databases }: Pick<Deps, 'databases'>, principal: Principal): Promise<string> {
  return await databases.control.run((sql) => actorIn(sql, principal));
}
