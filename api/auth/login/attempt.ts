// One attempt to log in: refused while its subject is locked, counted when it fails, forgiven when it succeeds.
import type { Connection, Sql } from '../../../storage/connections/pool.ts';
import {
  clearUnlessLocked,
  countFailure,
  findLock,
  type LockoutLimits,
  lockSubject,
  pruneLockouts,
} from '../../../storage/lockouts.ts';
import type { ServerSchema, SessionKind } from '../../../storage/sessions.ts';
import { auditInSchema } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { ApiError, fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';

/** Who tries, and where it is counted and audited. */
export interface Attempt {
  connection: Connection;
  schema: ServerSchema;
  /** Whom the name is looked for among: an end-user may have the address of an admin. */
  as: SessionKind;
  /** What the failures are counted under; the same for a name that exists and one that does not. */
  subject: string;
  /** The name that was tried. */
  actor: string;
  /** What is shown to be right: a name together with its password, unless it is given. */
  proof?: Proof;
  origin: RequestOrigin;
  now: Date;
}

/** Shown by somebody who is known by then, or whose name an answer must not tell of. */
type Proof = 'password' | 'code';

type AttemptDeps = Pick<Deps, 'newId' | 'now'>;

const limits: LockoutLimits = { failures: 5, windowMs: 300_000, lockMs: 300_000 };

/** A name as it is compared and counted: case and spaces around it do not make another one. */
export function normalizeName(name: string): string {
  return name.trim().toLowerCase();
}

/**
 * Lets an attempt begin. Throws `429 too_many_requests` while the subject is locked, the right password included: at once,
 * since guesses that waited for their turn, as in `tryInTurn`, would hold connections meanwhile.
 */
export async function beginAttempt(deps: AttemptDeps, attempt: Attempt): Promise<void> {
  const { connection, schema } = attempt;
  const until = await connection.run((sql) => findLock(sql, schema, attempt));
  if (until !== undefined) await refuseLocked(deps, attempt, until);
}

/** Ends an attempt at something that is locked, and audits it. Throws `429 too_many_requests`. */
async function refuseLocked(deps: AttemptDeps, attempt: Attempt, until: Date): Promise<never> {
  await attempt.connection.run((sql) =>
    auditAttempt(sql, deps, attempt, { action: 'login_locked', details: { until } })
  );
  failLocked(attempt, until);
}

/**
 * Ends an attempt that asks for what it cannot have, whatever its credentials: audited, but not counted. Throws
 * `403 forbidden`.
 */
export async function refuseAttempt(deps: AttemptDeps, attempt: Attempt, reason: string): Promise<never> {
  await attempt.connection.run((sql) =>
    auditAttempt(sql, deps, attempt, { action: 'login_failed', details: { reason } })
  );
  fail('forbidden', reason);
}

/** The credentials are no longer those that were found to be right. */
export class CredentialsChanged extends ApiError {
  constructor() {
    super('bad_credentials', 'the credentials were just changed');
  }
}

/**
 * The result of an attempt with a password; undefined when the hash was outdated at its beginning and another one at its end.
 * Then another login has probably renewed the hash of the same password, and the attempt is to be made again.
 */
export async function unlessRehashed<Result>(
  isOutdated: boolean,
  attempt: Promise<Result>,
): Promise<{ result: Result } | undefined> {
  try {
    return { result: await attempt };
  } catch (error) {
    if (isOutdated && error instanceof CredentialsChanged) return undefined;
    throw error;
  }
}

/** Others have locked the subject while the attempt was under way. */
class LockedOut extends Error {
  readonly until: Date;

  constructor(until: Date) {
    super('the subject is locked');
    this.until = until;
  }
}

/**
 * Does `work` in a transaction, if the subject is still not locked when it is its turn: guesses that come at once are
 * looked at one after another, so that no more of them count than if they had come so. `work` answers undefined for
 * what proves nothing, and has changed nothing then. Throws `401 bad_credentials`, `429 too_many_requests`.
 */
export async function tryExclusively<Result>(
  deps: AttemptDeps,
  attempt: Attempt,
  work: (sql: Sql) => Promise<Result | undefined>,
): Promise<Result> {
  const { connection, schema, subject } = attempt;
  try {
    const outcome = await connection.transaction(async (sql) => {
      // Sent together, done one after the other.
      const [, until] = await Promise.all([lockSubject(sql, subject), findLock(sql, schema, attempt)]);
      if (until !== undefined) throw new LockedOut(until);
      const result = await work(sql);
      return result === undefined ? { failed: await countWithin(sql, deps, attempt) } : { result };
    });
    return 'failed' in outcome ? failCounted(attempt, outcome.failed) : outcome.result;
  } catch (error) {
    if (error instanceof LockedOut) return await refuseLocked(deps, attempt, error.until);
    throw error;
  }
}

/** Ends an attempt with right credentials within `tryInTurn`, in the transaction that makes the session. */
export async function succeedWithin(sql: Sql, deps: AttemptDeps, attempt: Attempt): Promise<void> {
  const [until] = await Promise.all([
    clearUnlessLocked(sql, attempt.schema, attempt),
    auditAttempt(sql, deps, attempt, { action: 'login_success', details: {} }),
  ]);
  if (until !== undefined) throw new LockedOut(until);
}

/**
 * Ends an attempt with wrong credentials. Throws `401 bad_credentials`, or `429` when others at the same time have
 * locked the subject: whatever is tried at once, the answers are those of some order of one after another.
 */
export async function failAttempt(deps: AttemptDeps, attempt: Attempt): Promise<never> {
  failCounted(attempt, await attempt.connection.transaction((sql) => countWithin(sql, deps, attempt)));
}

type Failure = Awaited<ReturnType<typeof countFailure>>;

async function countWithin(sql: Sql, deps: AttemptDeps, attempt: Attempt): Promise<Failure> {
  const { schema, subject, now } = attempt;
  const failure = await countFailure(sql, schema, { subject, now, limits });
  const details = failure.lockedUntil === undefined ? {} : { locked_until: failure.lockedUntil };
  const action = failure.counted ? 'login_failed' : 'login_locked';
  await Promise.all([
    auditAttempt(sql, deps, attempt, { action, details }),
    pruneLockouts(sql, schema, { now, limits }),
  ]);
  return failure;
}

/** The same for a name that nobody has. */
const failureMessages: Readonly<Record<Proof, string>> = {
  password: 'the password is wrong',
  code: 'the code is wrong, has expired or has been used',
};

function failCounted(attempt: Attempt, { counted, lockedUntil }: Failure): never {
  if (!counted && lockedUntil !== undefined) failLocked(attempt, lockedUntil);
  const { proof } = attempt;
  fail('bad_credentials', proof === undefined ? 'the name or the password is wrong' : failureMessages[proof]);
}

/** Appends to the log of the scope that the attempt belongs to. */
export async function auditAttempt(
  sql: Sql,
  deps: AttemptDeps,
  { schema, as, actor, origin }: Attempt,
  { action, details }: { action: string; details: Readonly<Record<string, unknown>> },
): Promise<void> {
  const event = { actor, action, target: actor, details: { as, ...details }, origin };
  await auditInSchema(sql, deps, schema, event);
}

function failLocked({ now }: Attempt, until: Date): never {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000));
  fail('too_many_requests', `too many failed logins; wait ${seconds} s`, [['Retry-After', String(seconds)]]);
}
