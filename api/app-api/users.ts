// End-users for hook code: found, and added as anybody can be added by registering.
import type { HookUser } from '../../hook-runner/calls.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { enrolUser, previewUser } from '../../storage/workspace/enrol-user.ts';
import { auditApp } from '../audit/write.ts';
import { normalizeName } from '../auth/login/attempt.ts';
import { failDuplicateUser } from '../auth/login/register.ts';
import { requireMethod } from '../auth/login/user-attempt.ts';
import { checkNewPassword } from '../auth/passwords/policy.ts';
import { check } from '../contract/check.ts';
import { emailText, passwordText } from '../contract/credentials.ts';
import { object, optional } from '../contract/schema.ts';
import type { Deps } from '../deps.ts';
import { quotaLimit } from '../usage/quota.ts';
import { requireUserQuota } from '../usage/user-quota.ts';
import { findUserRecord } from '../users/records.ts';

const newUserSchema = object({ email: emailText, password: optional(passwordText) });

/** Finds a user by id; null when there is none. */
export async function findUserForHook(
  deps: Pick<Deps, 'databases'>,
  app: AppDefinition,
  id: string,
): Promise<object | null> {
  const found = await findUserRecord(deps, app, id);
  return found === undefined ? null : shown(found);
}

/** Finds a user by email, in upper or lower case; null when there is none. */
export async function findUserByEmailForHook(
  deps: Pick<Deps, 'databases'>,
  app: AppDefinition,
  email: string,
): Promise<object | null> {
  // PostgreSQL has no such text.
  if (email.includes('\0')) return null;
  const connection = deps.databases.app(app.workspace.database, app.schema);
  const { id } = await connection.run((sql) => previewUser(sql, normalizeName(email)));
  return id === undefined ? null : await findUserForHook(deps, app, id);
}

/**
 * Adds a user, whose address is not verified. Throws `400 validation`, `403 forbidden` for a password where those are
 * switched off, `403 quota_exceeded`, `409 conflict` for an email that is taken.
 */
export async function createUserForHook(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'newId' | 'now'>,
  app: AppDefinition,
  given: { email: string; password?: string },
): Promise<object | null> {
  const { email: text, password } = check(given, newUserSchema);
  const email = normalizeName(text);
  const at = { workspace: app.workspace.id, app: app.id };
  const mostUsers = await quotaLimit(deps.policies, 'quota.users', at);
  let password_hash: string | null = null;
  if (password !== undefined) {
    await requireMethod(deps, 'password', at);
    await checkNewPassword(deps.policies, at, { field: 'password', password });
    password_hash = await deps.passwords.hash(`users of ${at.workspace}`, password);
  }
  const id = deps.newId();
  await deps.databases.app(app.workspace.database, app.schema).transaction(async (sql) => {
    const user = { id, email, password_hash, now: deps.now() };
    if (await enrolUser(sql, user) !== id) failDuplicateUser();
    await requireUserQuota(sql, mostUsers);
    const details = { id, by: 'hook' };
    await auditApp(sql, deps, { actor: 'system', action: 'user_register', target: email, details });
  });
  return await findUserForHook(deps, app, id);
}

function shown(
  { id, fields: { email, verified }, created_at, updated_at }: StoredRecord,
): { [Name in keyof HookUser]: unknown } {
  return { id, email, verified, created_at, updated_at };
}
