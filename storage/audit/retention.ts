// Removes the oldest rows of an audit log, in a way that the chain of seals shows.
import type { Chain, SealKey } from './chain.ts';
import type { Connection, Sql } from '../connections/pool.ts';

/** A checkpoint, which takes the place of removed rows. */
export interface Checkpoint {
  /** The position of the last removed seal. */
  seq: number;
  hash: Buffer;
  /** Rows that were removed since the last checkpoint. */
  removed: number;
  created_at: Date;
  proof: Buffer;
}

/** The keyed hash of a checkpoint and of the proof before it; the first follows an empty one. */
export function checkpointProof(
  key: SealKey,
  chain: Chain,
  { seq, hash, created_at }: Pick<Checkpoint, 'seq' | 'hash' | 'created_at'>,
  previous: Buffer,
): Buffer {
  const text = JSON.stringify([seq, hash.toString('hex'), created_at.toISOString()]);
  return key.auditSeal(`${chain.name} checkpoint`, previous, text);
}

const batch = 5_000;

/**
 * Removes rows older than `before`, at most 5,000, and returns how many. Only sealed rows are removed, from the first
 * seal on, so a younger row keeps those that were sealed after it. `connection` is the provisioner's. Throws
 * `StorageError`.
 */
export async function pruneBatch(
  connection: Connection,
  chain: Chain,
  { key, before, now }: { key: SealKey; before: Date; now: Date },
): Promise<number> {
  const { schema } = chain;
  return await connection.transaction(async (sql) => {
    await sql`select from ${sql(schema)}.audit_begin()`;
    const last = await lastRemovable(sql, chain, before);
    if (last === undefined) return 0;
    const [newest] = await sql<{ proof: Buffer }[]>`
      select proof from ${sql(schema)}.audit_checkpoints order by seq desc limit 1`;
    const proof = checkpointProof(key, chain, { ...last, created_at: now }, newest?.proof ?? Buffer.alloc(0));
    const [row] = await sql<{ removed: number }[]>`
      select ${sql(schema)}.audit_prune(${last.seq}, ${before}, ${proof}, ${now})::float8 as removed`;
    return row?.removed ?? 0;
  });
}

async function lastRemovable(
  sql: Sql,
  { schema }: Chain,
  before: Date,
): Promise<Pick<Checkpoint, 'seq' | 'hash'> | undefined> {
  const [row] = await sql<Pick<Checkpoint, 'seq' | 'hash'>[]>`
    with oldest as (
      select seal.seq, seal.hash, log.ts >= ${before} as stays
      from ${sql(schema)}.audit_seals as seal join ${sql(schema)}.audit_log as log using (id)
      order by seal.seq limit ${batch}
    )
    select seq::float8 as seq, hash from oldest
    where seq < coalesce((select min(seq) from oldest where stays), (select max(seq) + 1 from oldest))
    order by seq desc limit 1`;
  return row;
}
