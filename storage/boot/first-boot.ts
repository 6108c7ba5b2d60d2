// What a new control database holds besides its tables.
import type { Sql } from '../connections/pool.ts';

/** The master admin `admin`, without a password until setup. Does nothing when there is one. */
export async function ensureMasterAdmin(sql: Sql, { id, now }: { id: string; now: Date }): Promise<void> {
  await sql`
    insert into control.master_admins (id, username, created_at, updated_at) values (${id}, 'admin', ${now}, ${now})
    on conflict on constraint master_admins_username do nothing`;
}
