// The chain of seals on an audit log: each is a keyed hash of a row and of the seal before it.
import type { Connection, Fragment, Sql } from '../connections/pool.ts';
import type { Secrets } from '../secrets.ts';
import type { ServerSchema } from '../sessions.ts';
import { formatArray } from '../sql/text-array.ts';

/** A log, and under which name its seals are made: one log's rows and seals are none of another's. */
export interface Chain {
  schema: ServerSchema;
  /** `control`, or the name of the workspace's database. */
  name: string;
}

/** What makes seals. */
export type SealKey = Pick<Secrets, 'auditSeal'>;

/** A row as it is sealed. */
export interface SealableRow {
  id: string;
  /** Everything the row holds, as a JSON array. */
  text: string;
}

/** The log of the system scope. */
export const controlChain: Chain = { schema: 'control', name: 'control' };

/** The log of a workspace and its apps. */
export function workspaceChain(database: string): Chain {
  return { schema: 'workspace', name: database };
}

/** The seal of a row in its place; the first follows an empty one. */
export function makeSeal(
  key: SealKey,
  chain: Chain,
  link: SealableRow & { seq: number; previous: Buffer },
): Buffer {
  return key.auditSeal(chain.name, link.previous, `${link.seq} ${link.text}`);
}

/** The columns of a sealable row; instants are microseconds since 1970, which no setting of the server renders otherwise. */
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
 * Seals rows that wait, at most 500, and answers how many. Several processes at once take turns. Rows of one batch are
 * sealed in the order of their ids, which is that of their time. Throws `StorageError`.
 */
export async function sealBatch(connection: Connection, chain: Chain, key: SealKey): Promise<number> {
  const { schema } = chain;
  return await connection.transaction(async (sql) => {
    const [head] = await sql<{ seq: number; hash: Buffer }[]>`
      select seq::float8 as seq, hash from ${sql(schema)}.audit_begin()`;
    if (head === undefined) throw new Error('the audit log has no head');
    // A statement of its own: what it sees is as of now, when nobody else seals any more.
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
    // The driver has no type for arrays of bytea: it sends the text as it is.
    const seals = formatArray(hashes.map((hash) => `\\x${hash.toString('hex')}`));
    await sql`select ${sql(schema)}.audit_seal(${head.seq + 1}, ${ids}::uuid[], ${seals}::bytea[])`;
    return rows.length;
  });
}

/** Which of the rows have a seal. */
export async function sealedAmong(sql: Sql, { schema }: Chain, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(schema)}.audit_seals where id in ${sql(ids)}`;
  return rows.map(({ id }) => id);
}

/** Whether any row waits. */
export async function hasUnsealed(sql: Sql, { schema }: Chain): Promise<boolean> {
  const [row] = await sql<{ waits: boolean }[]>`
    select exists (select from ${sql(schema)}.audit_queue) as waits`;
  return row?.waits === true;
}
