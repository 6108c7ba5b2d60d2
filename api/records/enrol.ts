// Creating a profile, a record of an `auth` collection: its user is found by the email, or made in the same transaction.
import { enrolUser } from '../../storage/workspace/enrol-user.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { within } from '../../storage/connections/within.ts';
import { nameOf } from '../audit/actor.ts';
import { auditApp, type AuditEvent } from '../audit/write.ts';
import { checkNewPassword } from '../auth/passwords/policy.ts';
import { requireMethod } from '../auth/login/user-attempt.ts';
import type { Deps } from '../deps.ts';
import { failValidation } from '../errors.ts';
import type { Access } from '../rules/access.ts';
import { mostOf } from '../usage/quota.ts';
import { requireUserQuota } from '../usage/user-quota.ts';
import type { RecordScope } from './collection.ts';
import type { Credentials } from './input/credentials.ts';
import type { Hooked } from './hooks/rehearsal.ts';
import { ruleOn } from './relations/restrict.ts';
import { type RecordInput, valuesOfNew } from './input/values.ts';

/** What making a user takes. */
export type EnrolDeps = Pick<Deps, 'databases' | 'passwords' | 'policies' | 'newId' | 'now'>;

/** A profile that is about to be created: what its user is made of, if there is none. */
export interface Enrolment extends Credentials {
  /** Of the user, if it is to be made. */
  newId: string;
  /** Null where there is no password. */
  hash: string | null;
  /** How many users the workspace may have. */
  mostUsers: number | undefined;
  /** Who asks, for the audit log. */
  actor: string;
  origin: AuditEvent['origin'];
}

/** Who wants a profile created, with which body. */
export interface EnrolmentRequest {
  access: Access;
  input: RecordInput;
  /** What hooks did to the input, once they were asked. */
  hooked?: Hooked;
  /** Id of the new record or user when the body names none; chosen beforehand, so that hooks and waiting writes know it. */
  newId?: string | undefined;
  origin?: AuditEvent['origin'];
}

/**
 * Does what must not be done while a transaction holds a connection: hashing waits its turn. Answers undefined where records
 * belong to no user. Throws what the rule and the body are refused with, `400 validation` for a password that policy does
 * not admit, `403 forbidden` where passwords are switched off, `503 unavailable`.
 */
export async function prepareEnrolment(
  deps: EnrolDeps,
  scope: RecordScope,
  { access, input, hooked, newId, origin }: EnrolmentRequest,
): Promise<Enrolment | undefined> {
  const { plan, target } = scope;
  const { credentials } = valuesOfNew(plan, input);
  if (credentials === undefined) return undefined;
  // Nobody has passwords hashed whom the rule refuses without looking at the record.
  ruleOn(access, target, hooked?.body ?? input);
  const { email, password } = credentials;
  const at = { workspace: target.app.workspace.id, app: target.app.id };
  let hash: string | null = null;
  // Whether there is a user already or not: else who is refused could tell from the answer, and its time.
  if (password !== undefined) {
    await requireMethod(deps, 'password', at);
    await checkNewPassword(deps.policies, at, { field: 'password', password });
    hash = await deps.passwords.hash(`users of ${at.workspace}`, password);
  }
  const actor = await actorOf(deps, scope, access, email);
  const mostUsers = await mostOf(deps.policies, 'quota.users', at);
  return { email, password, hash, mostUsers, newId: newId ?? deps.newId(), actor, origin };
}

/** Throws `400 validation` when a profile has become another's since it was prepared, as hooks in a batch can make it. */
export function requireSame(enrolment: Enrolment, credentials: Credentials | undefined): void {
  const changed = (['email', 'password'] as const).filter((name) => enrolment[name] !== credentials?.[name]);
  if (changed.length > 0) {
    failValidation(changed.map((field) => ({ field, reason: 'cannot be changed by a hook in a batch' })));
  }
}

/** Name of who asks; somebody without a token is known by the email. */
async function actorOf(
  deps: EnrolDeps,
  { connection }: RecordScope,
  { unbounded, request: { auth } }: Access,
  email: string,
): Promise<string> {
  if (auth === null) return unbounded ? 'system' : email;
  return await nameOf(deps, connection, auth) ?? auth.id;
}

/** A profile and how it is stored: undefined when its rule is not met. */
export interface Profile {
  enrolment: Enrolment;
  /** As the body says; it can only be that of the user. */
  id: string | undefined;
  now: Date;
  insert(sql: Sql, id: string): Promise<StoredRecord | undefined>;
  /** Ends the request of a profile that was not stored. */
  refuse(scope: Pick<RecordScope, 'connection'>): Promise<never>;
}

/**
 * Stores a profile within a transaction, which is to be rolled back when this throws: a user is never made for a profile that
 * is refused. Throws `400 validation` for a password although the user is there, and for an id that is not the user's;
 * only when the rule admits the profile, so that nobody else learns who is registered.
 */
export async function insertProfile(
  sql: Sql,
  deps: EnrolDeps,
  { enrolment, id, now, insert, refuse }: Profile,
): Promise<StoredRecord> {
  const { email, password, hash, mostUsers, newId, actor, origin } = enrolment;
  const user = await enrolUser(sql, { id: newId, email, password_hash: hash, now });
  const isNew = user === newId;
  const stored = await insert(sql, user) ?? await refuse({ connection: within(sql) });
  if (!isNew && password !== undefined) {
    failValidation([{ field: 'password', reason: 'must be left out: there is a user with this email' }]);
  }
  if (id !== undefined && id !== user) {
    failValidation([{ field: 'id', reason: 'must be that of the user, or be left out' }]);
  }
  if (isNew) {
    await requireUserQuota(sql, mostUsers);
    const details = { id: user, collection: stored.collection };
    const event = { actor, action: 'user_register', target: email, details };
    await auditApp(sql, deps, origin === undefined ? event : { ...event, origin });
  }
  return stored;
}
