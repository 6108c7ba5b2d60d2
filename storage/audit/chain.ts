// The chain of seals on an audit log: each is a keyed hash of a row and of the seal before it.
import type { Connection, Fragment, Sql } from '../connections/pool.ts';
import type { Secrets } from '../secrets.ts';
import type { ServerSchema } from '../sessions.ts';
import { formatArray } from '../sql/text-array.ts';

/** A log and the name under which its seals are made, so that no seal of one log fits another. */
export interface Chain {
  schema: ServerSchema;
  /** `control`, or the name of the workspace's database. */
  name: string;
}

/** The part of the secrets that makes seals. */
export type SealKey = Pick<Secrets, 'auditSeal'>;

/** A row as it is sealed. */
export interface SealableRow {
  id: string;
  /** All columns of the row, as a JSON array. */
  text: string;
}

/** The log of the system scope. */
export const controlChain: Chain = { schema: 'control', name: 'control' };

/** The log of a workspace and its apps. */
export function workspaceChain(database: string): Chain {
  return { schema: 'workspace', name: database };
}

/** The seal of a row at its position; the first follows an empty one. */
export function makeSeal(
  key: SealKey,
  chain: Chain,
  link: SealableRow & { seq: number; previous: Buffer },
): Buffer {
  return key.auditSeal(chain.name, link.previous, `${link.seq} ${link.text}`);
}

/** The columns of a sealable row. Instants are microseconds since 1970, so that no setting of the server changes the text. */
export function sealableColumns(sql: Sql, { schema }: Chain): Fragment {
  const place = schema === 'control'
    ? sql`jsonb_build_array(log.workspace)`
    : sql`jsonb_build_array(log.app, log.app_schema)`;
  return sql`log.id, jsonb_build_array(
    log.id, (extract(epoch from log.ts) * 1000000)::bigint, log.actor, log.action, log.target, log.details,
    ${place}, log.request_id, log.ip, log.user_agent)::text as text`;
}

const batch = 500;

/**
 * Seals waiting rows, at most 500, and returns how many. Several processes take turns. Rows of one batch are sealed in
 * the order of their ids, which is that of their time. Throws `StorageError`.
 */
export async function sealBatch(connection: Connection, chain: Chain, key: SealKey): Promise<number> {
  const { schema } = chain;
  return await connection.transaction(async (sql) => {
    const [head] = await sql<{ seq: number; hash: Buffer }[]>`
      select seq::float8 as seq, hash from ${sql(schema)}.audit_begin()`;
    if (head === undefined) throw new Error('the audit log has no head');
    // A statement of its own, whose snapshot is taken when no other process seals any more.
    const rows = await sql<SealableRow[]>`
      select ${sealableColumns(sql, chain)}
      from ${sql(schema)}.audit_queue as queue join ${sql(schema)}.audit_log as log using (id)
      order by log.id limit ${batch}`;
    if (rows.length === 0) return 0;
    const hashes: Buffer[] = [];
    for (const [index, row] of rows.entries()) {
      const previous = hashes.at(-1) ?? head.hash;
      hashes.push(makeSeal(key, chain, { ...row, seq: head.seq + 1 + index, previous }));
    }
    const ids = rows.map(({ id }) => id);
    // The driver has no type for arrays of bytea, so it gets the text.
    const seals = formatArray(hashes.map((hash) => `\\x${hash.toString('hex')}`));
    await sql`select ${sql(schema)}.audit_seal(${head.seq + 1}, ${ids}::uuid[], ${seals}::bytea[])`;
    return rows.length;
  });
}

/** The ids among these whose rows have a seal. */
export async function sealedAmong(sql: Sql, { schema }: Chain, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(schema)}.audit_seals where id in ${sql(ids)}`;
  return rows.map(({ id }) => id);
}

/** True when a row waits for its seal. */
export async function hasUnsealed(sql: Sql, { schema }: Chain): Promise<boolean> {
  const [row] = await sql<{ waits: boolean }[]>`
    select exists (select from ${sql(schema)}.audit_queue) as waits`;
  return row?.waits === true;
}
