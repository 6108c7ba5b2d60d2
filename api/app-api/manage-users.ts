// End-users for hook code, changed and deleted. All apps of a workspace share them, so the workspace has to allow it.
import type { UserChanges } from '../../hook-runner/calls.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { voidTokens } from '../../storage/workspace/one-time-tokens.ts';
import { lockUser, setEmail, setPassword, setVerified } from '../../storage/workspace/user-accounts.ts';
import { auditWorkspace } from '../audit/write.ts';
import { normalizeName } from '../auth/login/attempt.ts';
import { refuseDuplicateUser } from '../auth/login/register.ts';
import { requireMethod } from '../auth/login/user-attempt.ts';
import { checkNewPassword } from '../auth/passwords/policy.ts';
import { revokeAllTokens } from '../auth/tokens/end-user-tokens.ts';
import { check } from '../contract/check.ts';
import { emailText, passwordText } from '../contract/credentials.ts';
import { boolean, object, optional } from '../contract/schema.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import { logFailure } from '../logging/events.ts';
import { failNoUser } from '../users/list.ts';
import { removeUser } from '../users/remove.ts';
import { findUserForHook } from './users.ts';

const changesSchema = object({
  email: optional(emailText),
  password: optional(passwordText),
  verified: optional(boolean()),
});

type UpdateDeps = Pick<
  Deps,
  'databases' | 'definitions' | 'observe' | 'passwords' | 'policies' | 'revocations' | 'newId' | 'now'
>;

/**
 * Changes a user. A new address is not verified unless that is said; a new password ends all sessions. Throws `403 forbidden`
 * unless policy `hooks.manage_users` of the workspace allows it, `400 validation`, `404 not_found`, `409 conflict` for an email
 * that is taken.
 */
export async function updateUserForHook(
  deps: UpdateDeps,
  app: AppDefinition,
  { id, changes }: { id: string; changes: UserChanges },
): Promise<object | null> {
  await requireManaging(deps, app);
  const { email: text, password, verified } = check(changes, changesSchema);
  if (!isUuid(id)) failNoUser(id);
  const email = text === undefined ? undefined : normalizeName(text);
  const hash = password === undefined ? undefined : await hashPassword(deps, app, password);
  const { workspace } = app;
  const isMoved = await deps.databases.workspace(workspace.database)
    .transaction((sql) => applyChanges(sql, deps, { app, id, email, hash, verified }))
    .catch(refuseDuplicateUser);
  // Open streams have read the address for their rules, and read it again.
  if (isMoved) {
    await deps.definitions.invalidate(workspace.id)
      .catch(logFailure(deps, 'review streams for a new address'));
  }
  return await findUserForHook(deps, app, id);
}

/** Deletes a user as a workspace admin would. Throws `403 forbidden` as above, and what `removeUser` throws. */
export async function deleteUserForHook(
  deps: Parameters<typeof removeUser>[0],
  app: AppDefinition,
  { id, caller }: { id: string; caller: RecordCaller },
): Promise<void> {
  await requireManaging(deps, app);
  await removeUser(deps, { workspace: app.workspace, id }, { caller, now: deps.now() });
}

/** No app alone may allow it: the account is one for all apps. */
async function requireManaging(
  { policies }: Pick<Deps, 'policies'>,
  { workspace }: AppDefinition,
): Promise<void> {
  if (await policies.toggle('hooks.manage_users', { workspace: workspace.id })) return;
  fail(
    'forbidden',
    'policy hooks.manage_users of the workspace does not allow hooks to change or delete users',
  );
}

async function hashPassword(
  deps: Pick<Deps, 'passwords' | 'policies'>,
  { id, workspace }: AppDefinition,
  password: string,
): Promise<string> {
  const at = { workspace: workspace.id, app: id };
  await requireMethod(deps, 'password', at);
  await checkNewPassword(deps.policies, at, { field: 'password', password });
  return await deps.passwords.hash(`users of ${workspace.id}`, password);
}

/** Returns true when the user has another address. */
async function applyChanges(
  sql: Sql,
  deps: Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>,
  { app, id, email, hash, verified }: {
    app: AppDefinition;
    id: string;
    email: string | undefined;
    hash: string | undefined;
    verified: boolean | undefined;
  },
): Promise<boolean> {
  const now = deps.now();
  const user = await lockUser(sql, id) ?? failNoUser(id);
  const isMoved = email !== undefined && email !== user.email;
  if (isMoved) await setEmail(sql, id, { email, now });
  if (isMoved || verified !== undefined) await setVerified(sql, id, { verified: verified ?? false, now });
  if (hash !== undefined) await setPassword(sql, id, { hash, now });
  // What was mailed must not work any more.
  if (isMoved || hash !== undefined) await voidTokens(sql, { userId: id, email: user.email, now });
  const changed = { email: isMoved, password: hash !== undefined, verified: verified !== undefined };
  await auditWorkspace(sql, deps, {
    ...{ actor: 'system', action: 'user_update', target: email ?? user.email },
    details: {
      ...{ id, by: 'hook', app: app.id },
      changed: Object.entries(changed).filter(([, isChanged]) => isChanged).map(([name]) => name),
      from: { email: user.email, verified: user.verified },
    },
  });
  if (hash !== undefined) await revokeAllTokens(sql, deps, { userId: id, now });
  return isMoved;
}
