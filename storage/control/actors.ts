// The name of an admin or of an API key, for the audit logs.
import { isUuid } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';

/** Username of a master admin, email of an admin, `api_key:<id> of <maker>`, or undefined. `sql` is on the control database. */
export async function findActor(sql: Sql, id: string): Promise<string | undefined> {
  // A token of an earlier release may have another subject.
  if (!isUuid(id)) return undefined;
  const [row] = await sql<{ actor: string }[]>`
    select username as actor from control.master_admins where id = ${id}
    union all
    select email from control.admins where id = ${id}
    union all
    select 'api_key:' || k.id || ' of ' || coalesce(m.username, a.email, k.maker::text) from control.api_keys k
      left join control.master_admins m on m.id = k.maker
      left join control.admins a on a.id = k.maker
    where k.id = ${id}`;
  return row?.actor;
}
