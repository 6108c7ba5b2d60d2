// Attempts to log in: they are refused while their subject is locked, and counted until one succeeds.
import type { Connection, Sql } from '../../../storage/connections/pool.ts';
import {
  clearUnlessLocked,
  countFailure,
  findLock,
  type LockoutCounter,
  type LockoutLimits,
  lockSubject,
  pruneLockouts,
} from '../../../storage/lockouts.ts';
import type { ServerSchema, SessionKind } from '../../../storage/sessions.ts';
import { auditInSchema } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { ApiError, fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { isLoopback, networkOf } from '../../http/client-network.ts';
import type { PasswordClient } from '../passwords/passwords.ts';
import { readKnownClient } from './known-client.ts';
import { normalizeAddress } from '../../../storage/sql/email-address.ts';

/** An attempt to log in, or to prove the same credentials. */
export interface Attempt {
  /** The database and the schema in which the attempt is counted and audited. */
  connection: Connection;
  schema: ServerSchema;
  /** The kind of principal: an end-user may have the address of an admin. */
  as: SessionKind;
  /** The name as failures are counted by it. A name that does not exist has one like any other. */
  subject: string;
  /** The name that was tried. */
  actor: string;
  /** The part of the credentials that may be wrong; undefined for a name with its password. */
  proof?: Proof;
  origin: RequestOrigin;
  now: Date;
}

/** For a caller whose name is known, or for a response that must not tell whether the name exists. */
type Proof = 'password' | 'code' | 'mailed code';

type AttemptDeps = Pick<Deps, 'newId' | 'now' | 'secrets'>;

/** Failures of one client. */
const clientLimits: LockoutLimits = { failures: 5, windowMs: 300_000, lockMs: 300_000 };
/** Failures of all clients together: somebody guesses from many networks. */
const nameLimits: LockoutLimits = { ...clientLimits, failures: 50 };

/** Wrong mailed codes of one network, for whatever names: anybody may have one mailed to any address. */
const codeLimits: LockoutLimits = { failures: 20, windowMs: 600_000, lockMs: 600_000 };

/** The counters of an attempt's failures, that of its client first. */
function countersOf(
  deps: Pick<Deps, 'secrets'>,
  { subject, origin, proof }: Attempt,
): [LockoutCounter, ...LockoutCounter[]] {
  const known = readKnownClient(deps, subject, origin.knownClient?.());
  // The guesses of others do not lock out a client that has signed in before.
  if (known !== undefined) return [{ subject: `${subject}\n${known}`, limits: clientLimits }];
  const isLocal = isLoopback(origin.ip);
  // A program may choose any address of 127.0.0.0/8.
  const network = isLocal ? 'loopback' : networkOf(origin.ip);
  return [
    { subject: `${subject}\n${network}`, limits: clientLimits },
    // Nor those who sign in on the server's own machine: an operator's way in from a new device, through SSH.
    ...isLocal ? [] : [{ subject, limits: nameLimits }],
    ...proof === 'mailed code' ? [{ subject: `codes\n${network}`, limits: codeLimits }] : [],
  ];
}

/** The client of an attempt, as it waits for its password to be checked. */
export function clientOf(
  deps: Pick<Deps, 'secrets'>,
  { subject, origin: { ip, knownClient } }: Pick<Attempt, 'subject' | 'origin'>,
): PasswordClient {
  const isKnown = readKnownClient(deps, subject, knownClient?.()) !== undefined;
  return { network: networkOf(ip), turn: isKnown ? 'known' : isLoopback(ip) ? 'loopback' : 'others' };
}

/** The end of the last lock of an attempt's counters; undefined when there is none. */
async function findAttemptLock(sql: Sql, deps: AttemptDeps, attempt: Attempt): Promise<Date | undefined> {
  const subjects = countersOf(deps, attempt).map(({ subject }) => subject);
  return await findLock(sql, attempt.schema, { subjects, now: attempt.now });
}

/** A name or an address as it is stored and shown, in lower case and without spaces around it. */
export function normalizeName(name: string): string {
  return normalizeAddress(name.trim().toLowerCase());
}

/**
 * Begins an attempt. Throws `429 too_many_requests` while the subject is locked, also for the right password. It does not
 * wait for other attempts as `tryExclusively` does, because attempts that wait hold connections.
 */
export async function beginAttempt(deps: AttemptDeps, attempt: Attempt): Promise<void> {
  const until = await attempt.connection.run((sql) => findAttemptLock(sql, deps, attempt));
  if (until !== undefined) await refuseLocked(deps, attempt, until);
}

/** Audits an attempt at a locked subject. Throws `429 too_many_requests`. */
async function refuseLocked(deps: AttemptDeps, attempt: Attempt, until: Date): Promise<never> {
  await attempt.connection.run((sql) =>
    auditAttempt(sql, deps, attempt, { action: 'login_locked', details: { until } })
  );
  failLocked(attempt, until);
}

/**
 * Ends an attempt that is forbidden with any credentials. It is audited, but not counted. Throws `403 forbidden`.
 */
export async function refuseAttempt(deps: AttemptDeps, attempt: Attempt, reason: string): Promise<never> {
  await attempt.connection.run((sql) =>
    auditAttempt(sql, deps, attempt, { action: 'login_failed', details: { reason } })
  );
  fail('forbidden', reason);
}

/** The credentials changed after they were verified. */
export class CredentialsChanged extends ApiError {
  constructor() {
    super('bad_credentials', 'the credentials were just changed');
  }
}

/**
 * The result of an attempt with a password; undefined when its hash was outdated and has changed meanwhile. Another login
 * has then probably renewed the hash of the same password, and the caller tries again.
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

/** Failures of other attempts have locked the subject during this one. */
class LockedOut extends Error {
  readonly until: Date;

  constructor(until: Date) {
    super('the subject is locked');
    this.until = until;
  }
}

/**
 * Runs `work` in a transaction, one attempt of a subject after another, unless the subject is locked by then. So guesses
 * that arrive together have no more tries than guesses one by one. `work` returns undefined for wrong credentials, and has
 * changed nothing then. Throws `401 bad_credentials`, `429 too_many_requests`.
 */
export async function tryExclusively<Result>(
  deps: AttemptDeps,
  attempt: Attempt,
  work: (sql: Sql) => Promise<Result | undefined>,
): Promise<Result> {
  const { connection, subject } = attempt;
  try {
    const outcome = await connection.transaction(async (sql) => {
      // Sent together, and executed in this order.
      const [, until] = await Promise.all([lockSubject(sql, subject), findAttemptLock(sql, deps, attempt)]);
      if (until !== undefined) throw new LockedOut(until);
      const result = await work(sql);
      return result === undefined ? { failed: await recordFailure(sql, deps, attempt) } : { result };
    });
    return 'failed' in outcome ? failWithCredentials(attempt, outcome.failed) : outcome.result;
  } catch (error) {
    if (error instanceof LockedOut) return await refuseLocked(deps, attempt, error.until);
    throw error;
  }
}

/** Ends an attempt with right credentials, in the transaction of `tryExclusively` that creates the session. */
export async function completeAttempt(sql: Sql, deps: AttemptDeps, attempt: Attempt): Promise<void> {
  const [until] = await Promise.all([
    clearFailures(sql, deps, attempt),
    auditAttempt(sql, deps, attempt, { action: 'login_success', details: {} }),
  ]);
  if (until !== undefined) throw new LockedOut(until);
}

/** Deletes the failures of an attempt's client, unless it is locked: then returns until when. */
export async function clearFailures(
  sql: Sql,
  deps: AttemptDeps,
  attempt: Attempt,
): Promise<Date | undefined> {
  const [{ subject }] = countersOf(deps, attempt);
  return await clearUnlessLocked(sql, attempt.schema, { subject, now: attempt.now });
}

/**
 * Ends an attempt with wrong credentials. Throws `401 bad_credentials`, or `429` when simultaneous attempts have locked the
 * subject: the responses are those of attempts one after another.
 */
export async function failAttempt(deps: AttemptDeps, attempt: Attempt): Promise<never> {
  failWithCredentials(
    attempt,
    await attempt.connection.transaction((sql) => recordFailure(sql, deps, attempt)),
  );
}

type Failure = Awaited<ReturnType<typeof countFailure>>;

async function recordFailure(sql: Sql, deps: AttemptDeps, attempt: Attempt): Promise<Failure> {
  const { schema, now } = attempt;
  const [own, ...others] = countersOf(deps, attempt);
  const failure = await countFailure(sql, schema, { ...own, now });
  for (const counter of failure.counted ? others : []) await countFailure(sql, schema, { ...counter, now });
  const details = failure.lockedUntil === undefined ? {} : { locked_until: failure.lockedUntil };
  const action = failure.counted ? 'login_failed' : 'login_locked';
  await Promise.all([
    auditAttempt(sql, deps, attempt, { action, details }),
    pruneLockouts(sql, schema, { now, limits: codeLimits }),
  ]);
  return failure;
}

/** The messages are the same for a name that does not exist. */
const failureMessages: Readonly<Record<Proof, string>> = {
  password: 'the password is wrong',
  code: 'the code is wrong, has expired or has been used',
  'mailed code': 'the code is wrong, has expired or has been used',
};

function failWithCredentials(attempt: Attempt, { counted, lockedUntil }: Failure): never {
  if (!counted && lockedUntil !== undefined) failLocked(attempt, lockedUntil);
  const { proof } = attempt;
  fail('bad_credentials', proof === undefined ? 'the name or the password is wrong' : failureMessages[proof]);
}

/** Appends an entry about an attempt to the audit log of its scope. */
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
