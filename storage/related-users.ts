// The workspace's users as the records of an app's built-in collection `users`.
import { instantFromDatabase } from './fields/datetime.ts';
import type { Residue } from './filter/fold.ts';
import type { Sql } from './pool.ts';
import type { StoredRecord } from './record-plan.ts';
import { whereOf } from './restriction.ts';

type Rows = Record<string, unknown>[];

const names = ['email', 'verified', 'has_password', 'totp_enabled', 'oauth_providers'] as const;
const instants = ['created_at', 'updated_at', 'last_login'].map((name) => `${name}::timestamptz(3)::text`);
const columns = ['id', ...instants, ...names].join(', ');

/** Users by their ids, those that pass only; in no order. Without a hash or a secret. Runs as an app's role. */
export async function selectUsers(sql: Sql, ids: readonly string[], rule?: Residue): Promise<StoredRecord[]> {
  const where = whereOf(rule === undefined ? [] : [{ residue: rule }], 2);
  const condition = where.text === '' ? '' : ` and ${where.text}`;
  const rows = await sql.unsafe<Rows>(
    `select ${columns} from workspace.users_public as r where r.id = any($1::uuid[])${condition}`,
    [[...ids], ...where.params],
  ).values();
  return rows.map(recordOf);
}

function recordOf([id, created_at, updated_at, last_login, ...values]: readonly unknown[]): StoredRecord {
  const fields = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  return {
    id: String(id),
    collection: 'users',
    fields: { ...fields, last_login: last_login === null ? null : instantFromDatabase(last_login) },
    created_at: instantFromDatabase(created_at),
    updated_at: instantFromDatabase(updated_at),
  };
}
