// The name of an admin, for the audit logs.
import { isUuid } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';

/** Username of a master admin or email of an admin, or undefined. `sql` is on the control database. */
export async function findActor(sql: Sql, id: string): Promise<string | undefined> {
  // A token of an earlier release may have another subject.
  if (!isUuid(id)) return undefined;
  const [row] = await sql<{ actor: string }[]>`
    select username as actor from control.master_admins where id = ${id}
    union all
    select email from control.admins where id = ${id}`;
  return row?.actor;
}
