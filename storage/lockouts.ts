// Rows of control.lockouts and workspace.lockouts: failed logins of a subject, and until when it is locked.
import type { Fragment, Sql } from './connections/pool.ts';
import type { ServerSchema } from './sessions.ts';

/** The number of failures within a window that lock a subject, and for how long. */
export interface LockoutLimits {
  failures: number;
  windowMs: number;
  lockMs: number;
}

/** A subject whose failures are counted, and its limits. */
export interface LockoutCounter {
  subject: string;
  limits: LockoutLimits;
}

/**
 * A time further ahead than this was written under a clock that has since been set back, and is ignored. The clocks of
 * several machines differ by less.
 */
const maxAheadMs = 60_000;

/** The end of the last lock of these subjects; undefined when none is locked. */
export async function findLock(
  sql: Sql,
  schema: ServerSchema,
  { subjects, now }: { subjects: readonly string[]; now: Date },
): Promise<Date | undefined> {
  const [row] = await sql<{ locked_until: Date }[]>`
    select locked_until from ${table(sql, schema)} as known
    where subject = any(${[...subjects]}) and ${holds(sql, now)}
    order by locked_until desc limit 1`;
  return row?.locked_until;
}

/** Serializes attempts of one subject until the transaction ends, so that each sees the outcome of the one before. */
export async function lockSubject(sql: Sql, subject: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`attempt ${subject}`}, 0))`;
}

/**
 * Counts a failure unless the subject is locked. `counted` is false when it was locked already; `lockedUntil` is set
 * when it is locked now. One statement on one row, so that simultaneous failures are counted one after another.
 */
export async function countFailure(
  sql: Sql,
  schema: ServerSchema,
  { subject, now, limits }: LockoutCounter & { now: Date },
): Promise<{ counted: boolean; lockedUntil: Date | undefined }> {
  const since = new Date(now.getTime() - limits.windowMs);
  const until = new Date(now.getTime() + limits.lockMs);
  const recent = sql`failure > ${since} and failure <= ${latest(now)}`;
  const [row] = await sql<{ locked_until: Date | null }[]>`
    insert into ${table(sql, schema)} as known (subject, failed_at, last_failed_at, locked_until)
    values (${subject}, array[${now}::timestamptz], ${now}, ${limits.failures <= 1 ? until : null})
    on conflict (subject) do update set
      failed_at = array(select failure from unnest(known.failed_at) failure where ${recent})
        || ${now}::timestamptz,
      last_failed_at = ${now},
      locked_until = case
        when (select count(*) from unnest(known.failed_at) failure where ${recent}) + 1 >= ${limits.failures}
        then ${until}::timestamptz
      end
    where (${holds(sql, now)}) is not true
    returning locked_until`;
  if (row !== undefined) return { counted: true, lockedUntil: row.locked_until ?? undefined };
  return { counted: false, lockedUntil: await findLock(sql, schema, { subjects: [subject], now }) };
}

/** Deletes a subject's failures after a completed login, unless it is locked: then returns until when. */
export async function clearUnlessLocked(
  sql: Sql,
  schema: ServerSchema,
  { subject, now }: { subject: string; now: Date },
): Promise<Date | undefined> {
  const clear = async () => {
    await sql`
      delete from ${table(sql, schema)} as known where subject = ${subject} and (${
      holds(sql, now)
    }) is not true`;
  };
  // Sent together, done one after the other. A simultaneous failure may lock the subject while the delete waits for it,
  // and the delete then spares the row. A statement is sent when it is first awaited, so each has a function.
  const [, until] = await Promise.all([clear(), findLock(sql, schema, { subjects: [subject], now })]);
  return until;
}

/** Deletes the failures and locks of a subject, and of the subjects that begin with it and a line feed. */
export async function deleteFailures(sql: Sql, schema: ServerSchema, subject: string): Promise<void> {
  await sql`
    delete from ${table(sql, schema)} where subject = ${subject} or starts_with(subject, ${`${subject}\n`})`;
}

/** Removes a few rows that no longer count, so that made-up names do not fill the table. */
export async function pruneLockouts(
  sql: Sql,
  schema: ServerSchema,
  { now, limits }: { now: Date; limits: LockoutLimits },
): Promise<void> {
  const before = new Date(now.getTime() - limits.windowMs - limits.lockMs);
  await sql`
    delete from ${table(sql, schema)} where subject in (
      select subject from ${
    table(sql, schema)
  } where last_failed_at < ${before} order by last_failed_at limit 20
      for update skip locked)`;
}

/** The condition that the lock of the row `known` holds. */
function holds(sql: Sql, now: Date): Fragment {
  return sql`known.locked_until > ${now} and known.last_failed_at <= ${latest(now)}`;
}

function latest(now: Date): Date {
  return new Date(now.getTime() + maxAheadMs);
}

function table(sql: Sql, schema: ServerSchema): Fragment {
  return schema === 'control' ? sql`control.lockouts` : sql`workspace.lockouts`;
}
