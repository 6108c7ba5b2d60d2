// Verifies an audit log: reads every row and seal, and reports what was changed, removed or added.
import { type Chain, makeSeal, sealableColumns, type SealableRow, type SealKey } from './chain.ts';
import { type Checkpoint, checkpointProof } from './retention.ts';
import type { Connection, Sql } from '../connections/pool.ts';

/** One fault. `seq` is the position in the chain, `id` the row's; either may be unknown. */
export interface ChainFault {
  seq: number | null;
  id: string | null;
  what: string;
}

/** The result of a verification. */
export interface ChainVerdict {
  /** Rows whose seals are right. */
  sound: number;
  /** Rows that wait for their seal, which they get while a server runs. */
  waiting: number;
  /** Rows that retention has removed. */
  removed: number;
  /** The last seal. A copy kept elsewhere shows later whether the end of the chain was cut off. */
  head: { seq: number; hash: string };
  /** The first 100, in order. */
  faults: ChainFault[];
  /** The number of all faults. */
  faulty: number;
}

const batch = 2_000;
const maxFaults = 100;

/** Collects faults, and keeps the first ones. */
class FaultList {
  readonly first: ChainFault[] = [];
  count = 0;

  add(what: string, { seq = null, id = null }: { seq?: number | null; id?: string | null } = {}): void {
    this.count++;
    if (this.first.length < maxFaults) this.first.push({ seq, id, what });
  }
}

interface Head {
  seq: number;
  hash: Buffer;
}

interface Link extends Head {
  id: string;
  /** Null when the row is missing. */
  text: string | null;
}

/**
 * Verifies a log from its last checkpoint to its head. Reads in pieces, each as the database is then, and ignores rows
 * that are added meanwhile. `connection` is the provisioner's. `expected` is a head that was kept. Throws
 * `StorageError`.
 */
export async function verifyChain(
  connection: Connection,
  chain: Chain,
  { key, expected }: { key: SealKey; expected?: { seq: number; hash: string } | undefined },
): Promise<ChainVerdict> {
  const faults = new FaultList();
  const head = await connection.run((sql) => readHead(sql, chain));
  const { start, removed } = await connection.run((sql) => checkCheckpoints(sql, chain, { key, faults }));
  const walk = { start, head, key, faults, expected };
  const sound = await walkChain(connection, chain, walk);
  if (expected !== undefined) checkExpected(expected, { start, head, faults });
  const waiting = await connection.run((sql) => checkUnsealed(sql, chain, faults));
  return {
    sound,
    waiting,
    removed,
    head: { seq: head.seq, hash: head.hash.toString('hex') },
    faults: faults.first,
    faulty: faults.count,
  };
}

async function readHead(sql: Sql, { schema }: Chain): Promise<Head> {
  const [head] = await sql<Head[]>`select seq::float8 as seq, hash from ${sql(schema)}.audit_head`;
  return head ?? { seq: 0, hash: Buffer.alloc(0) };
}

/** The beginning of the chain, and the number of rows that retention has removed. */
async function checkCheckpoints(
  sql: Sql,
  chain: Chain,
  { key, faults }: { key: SealKey; faults: FaultList },
): Promise<{ start: Head; removed: number }> {
  const checkpoints = await sql<Checkpoint[]>`
    select seq::float8 as seq, hash, removed::float8 as removed, created_at, proof
    from ${sql(chain.schema)}.audit_checkpoints order by seq`;
  let start: Head = { seq: 0, hash: Buffer.alloc(0) };
  let proof: Buffer = Buffer.alloc(0);
  for (const checkpoint of checkpoints) {
    const { seq } = checkpoint;
    if (!checkpointProof(key, chain, checkpoint, proof).equals(checkpoint.proof)) {
      faults.add('this checkpoint was not left by retention', { seq });
    } else if (checkpoint.removed !== seq - start.seq) {
      faults.add('retention removed fewer rows than there should have been', { seq });
    }
    proof = checkpoint.proof;
    start = checkpoint;
  }
  return { start, removed: start.seq };
}

interface Walk {
  start: Head;
  head: Head;
  key: SealKey;
  faults: FaultList;
  expected: { seq: number; hash: string } | undefined;
}

/** Checks each seal against the stored one before it, so that one fault does not cause faults of all that follow. */
async function walkChain(connection: Connection, chain: Chain, walk: Walk): Promise<number> {
  const { start, head, faults } = walk;
  let sound = 0;
  let previous: Head = start;
  for (;;) {
    const links = await connection.run((sql) =>
      readLinks(sql, chain, { after: previous.seq, upTo: head.seq })
    );
    for (const link of links) {
      if (checkLink(chain, walk, { link, previous })) sound++;
      previous = link;
    }
    if (links.length < batch) break;
  }
  if (previous.seq !== head.seq) missingBetween(faults, previous.seq, head.seq + 1);
  else if (!previous.hash.equals(head.hash)) {
    faults.add('the last seal is not the one it was', { seq: head.seq });
  }
  return sound;
}

async function readLinks(
  sql: Sql,
  chain: Chain,
  { after, upTo }: { after: number; upTo: number },
): Promise<Link[]> {
  return await sql<Link[]>`
    select seal.seq::float8 as seq, seal.hash, seal.id, sealable.text
    from (
      select * from ${sql(chain.schema)}.audit_seals
      where seq > ${after} and seq <= ${upTo} order by seq limit ${batch}
    ) as seal
    left join lateral (
      select ${sealableColumns(sql, chain)} from ${sql(chain.schema)}.audit_log as log where log.id = seal.id
    ) as sealable on true
    order by seal.seq`;
}

/** True when a link is as it was made. */
function checkLink(
  chain: Chain,
  { key, faults, expected }: Walk,
  { link, previous }: { link: Link; previous: Head },
): boolean {
  const { seq, id, text, hash } = link;
  if (seq !== previous.seq + 1) missingBetween(faults, previous.seq, seq);
  if (text === null) {
    faults.add('the row is missing', { seq, id });
    return false;
  }
  if (expected?.seq === seq && expected.hash !== hash.toString('hex')) {
    faults.add('the seal is not the one that was kept', { seq, id });
  }
  const row: SealableRow = { id, text };
  const isSound = makeSeal(key, chain, { ...row, seq, previous: previous.hash }).equals(hash);
  // After a gap, the seal before is missing. The gap is a fault already.
  if (!isSound && seq === previous.seq + 1) faults.add('the row, or its seal, was changed', { seq, id });
  return isSound;
}

function missingBetween(faults: FaultList, last: number, next: number): void {
  const [from, to] = [last + 1, next - 1];
  const what = from === to ? 'the seal and its row are missing' : `all seals up to ${to} are missing`;
  faults.add(what, { seq: from });
}

function checkExpected(
  expected: { seq: number; hash: string },
  { start, head, faults }: { start: Head; head: Head; faults: FaultList },
): void {
  const { seq } = expected;
  if (seq > head.seq) faults.add(`the chain ends at ${head.seq}: its end was cut off`, { seq });
  if (seq === start.seq && start.hash.toString('hex') !== expected.hash) {
    faults.add('the seal is not the one that was kept', { seq });
  }
}

/** Rows without a seal wait for it, or were added without the log's functions. Returns the number of those that wait. */
async function checkUnsealed(sql: Sql, { schema }: Chain, faults: FaultList): Promise<number> {
  const intruders = await sql<{ id: string }[]>`
    select log.id from ${sql(schema)}.audit_log as log
    where not exists (select from ${sql(schema)}.audit_seals as seal where seal.id = log.id)
      and not exists (select from ${sql(schema)}.audit_queue as queue where queue.id = log.id)
    order by log.id limit ${maxFaults}`;
  for (const { id } of intruders) faults.add('the row was never sealed', { id });
  const lost = await sql<{ id: string }[]>`
    select queue.id from ${sql(schema)}.audit_queue as queue
    where not exists (select from ${sql(schema)}.audit_log as log where log.id = queue.id)
    order by queue.id limit ${maxFaults}`;
  for (const { id } of lost) faults.add('the row went missing before it was sealed', { id });
  const [row] = await sql<{ count: number }[]>`
    select count(*)::float8 as count from ${sql(schema)}.audit_queue`;
  return (row?.count ?? 0) - lost.length;
}
