// Creating a profile, a record of an `auth` collection: its user is found by the email, or made in the same transaction.
import { enrolUser } from '../../storage/workspace/enrol-user.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { transactionAsConnection } from '../../storage/connections/transaction-as-connection.ts';
import { principalName } from '../audit/actor.ts';
import { auditApp, type AuditEvent } from '../audit/write.ts';
import { checkNewPassword } from '../auth/passwords/policy.ts';
import { requireMethod } from '../auth/login/user-attempt.ts';
import type { Deps } from '../deps.ts';
import { failValidation } from '../errors.ts';
import type { Access } from '../rules/access.ts';
import { quotaLimit } from '../usage/quota.ts';
import { requireUserQuota } from '../usage/user-quota.ts';
import type { RecordScope } from './collection.ts';
import type { Credentials } from './input/credentials.ts';
import type { HookedInput } from './hooks/rehearsal.ts';
import { ruleRestriction } from './relations/restrict.ts';
import { readNewValues, type RecordInput } from './input/values.ts';

/** The parts that creating a user needs. */
export type EnrolDeps = Pick<Deps, 'databases' | 'passwords' | 'policies' | 'newId' | 'now'>;

/** The needs of a new profile whose user is to be created, if there is none. */
export interface PreparedEnrolment extends Credentials {
  /** Of the user, if it is to be created. */
  newId: string;
  /** Of the password; null without one. */
  hash: string | null;
  /** How many users the workspace may have. */
  maxUsers: number | undefined;
  /** The name of the caller, for the audit log. */
  actor: string;
  origin: AuditEvent['origin'];
}

/** A record that may be a profile, as its create asks for it. */
export interface EnrolmentRequest {
  access: Access;
  input: RecordInput;
  /** How hooks have changed the input, once they have run. */
  hooked?: HookedInput;
  /** Id of the new record or user when the body has none, chosen beforehand: hooks and the order of writes need it. */
  newId?: string | undefined;
  origin?: AuditEvent['origin'];
}

/**
 * Hashes the password, which takes too long for a transaction, and reads what else a profile needs. Returns undefined for a
 * record that is no profile. Throws what the rule and the body are refused with, `400 validation` for a password that policy
 * does not admit, `403 forbidden` where passwords are switched off, `503 unavailable`.
 */
export async function prepareEnrolment(
  deps: EnrolDeps,
  scope: RecordScope,
  { access, input, hooked, newId, origin }: EnrolmentRequest,
): Promise<PreparedEnrolment | undefined> {
  const { plan, target } = scope;
  const { credentials } = readNewValues(plan, input);
  if (credentials === undefined) return undefined;
  // A caller whom the rule refuses whatever the record is must not make the server hash passwords.
  ruleRestriction(access, target, hooked?.body ?? input);
  const { email, password } = credentials;
  const at = { workspace: target.app.workspace.id, app: target.app.id };
  let hash: string | null = null;
  // Also when the user exists: otherwise a caller who is refused could tell that from the response, and from its time.
  if (password !== undefined) {
    await requireMethod(deps, 'password', at);
    await checkNewPassword(deps.policies, at, { field: 'password', password });
    hash = await deps.passwords.hash(`users of ${at.workspace}`, password);
  }
  const actor = await actorOf(deps, scope, access, email);
  const maxUsers = await quotaLimit(deps.policies, 'quota.users', at);
  return { email, password, hash, maxUsers, newId: newId ?? deps.newId(), actor, origin };
}

/** Throws `400 validation` when hooks of a batch have given a profile another email or password since it was prepared. */
export function requireSame(enrolment: PreparedEnrolment, credentials: Credentials | undefined): void {
  const changed = (['email', 'password'] as const).filter((name) => enrolment[name] !== credentials?.[name]);
  if (changed.length > 0) {
    failValidation(changed.map((field) => ({ field, reason: 'cannot be changed by a hook in a batch' })));
  }
}

/** The name of the caller for the audit log; without a token, the email of the new profile. */
async function actorOf(
  deps: EnrolDeps,
  { connection }: RecordScope,
  { unbounded, request: { auth } }: Access,
  email: string,
): Promise<string> {
  if (auth === null) return unbounded ? 'system' : email;
  return await principalName(deps, connection, auth) ?? auth.id;
}

/** A profile that is to be stored. */
export interface NewProfile {
  enrolment: PreparedEnrolment;
  /** The id that the body has; it can only be that of the user. */
  id: string | undefined;
  now: Date;
  /** Stores the profile; returns undefined when its rule does not admit it. */
  insert(sql: Sql, id: string): Promise<StoredRecord | undefined>;
  /** Ends the request of a profile that was not stored. */
  refuse(scope: Pick<RecordScope, 'connection'>): Promise<never>;
}

/**
 * Stores a profile within a transaction, and its user if there is none. The transaction is to be rolled back when this throws,
 * so that no user is created for a profile that is refused. Throws `400 validation` for a password of a user who exists, and
 * for an id that is not the user's: only when the rule admits the profile, so that no other caller learns who is registered.
 */
export async function insertProfile(
  sql: Sql,
  deps: EnrolDeps,
  { enrolment, id, now, insert, refuse }: NewProfile,
): Promise<StoredRecord> {
  const { email, password, hash, maxUsers, newId, actor, origin } = enrolment;
  const user = await enrolUser(sql, { id: newId, email, password_hash: hash, now });
  const isNew = user === newId;
  const stored = await insert(sql, user) ?? await refuse({ connection: transactionAsConnection(sql) });
  if (!isNew && password !== undefined) {
    failValidation([{ field: 'password', reason: 'must be left out: there is a user with this email' }]);
  }
  if (id !== undefined && id !== user) {
    failValidation([{ field: 'id', reason: 'must be that of the user, or be left out' }]);
  }
  if (isNew) {
    await requireUserQuota(sql, maxUsers);
    const details = { id: user, collection: stored.collection };
    const event = { actor, action: 'user_register', target: email, details };
    await auditApp(sql, deps, origin === undefined ? event : { ...event, origin });
  }
  return stored;
}
