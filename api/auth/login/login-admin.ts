// The login of a workspace admin or app admin.
import { type AdminRow, findAdminByEmail, rehashAdmin } from '../../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { insertSession } from '../../../storage/sessions.ts';
import { type Admin, showAdmin } from '../account/admin-response.ts';
import type { Deps } from '../../deps.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import {
  type Attempt,
  beginAttempt,
  clientOf,
  completeAttempt,
  failAttempt,
  normalizeName,
  refuseAttempt,
  tryExclusively,
} from './attempt.ts';
import type { Grant } from '../tokens/claims.ts';
import type { TokenPair } from '../sessions/cookies.ts';
import { issueSignIn } from './issue-sign-in.ts';
import { draftSession, sessionStore } from '../sessions/sessions.ts';
import type { SignInDeps } from './sign-in-user.ts';
import { asciiAddress } from '../../../storage/sql/email-address.ts';

/** The credentials of an admin. */
export interface AdminLogin {
  email: string;
  password: string;
  /** The only app that the tokens are valid for. */
  app?: string | undefined;
}

/** Issues tokens. Throws `401 bad_credentials`, `403 forbidden` for an app out of reach, `429 too_many_requests`. */
export async function loginAdmin(
  deps: SignInDeps,
  workspace: WorkspaceDefinition,
  { email, password, app, origin, now }: AdminLogin & { origin: RequestOrigin; now: Date },
): Promise<{ pair: TokenPair; admin: Admin }> {
  const actor = normalizeName(email);
  const subject = `ws:${workspace.id}:${asciiAddress(actor)}`;
  const attempt: Attempt = { ...sessionStore(deps, workspace), as: 'admin', subject, actor, origin, now };
  const id = deps.revocations.newId();
  const owner = `admins of ${workspace.id}` as const;
  const { control } = deps.databases;
  const { found: known, check } = await deps.passwords.findAndVerify(owner, password, async () => {
    await beginAttempt(deps, attempt);
    return await control.run((sql) => findAdminByEmail(sql, workspace.id, actor));
  }, clientOf(deps, attempt));
  if (known === undefined || !check.matches) return await failAttempt(deps, attempt);
  const grant = await adminGrant(deps, known, app) ??
    await refuseAttempt(deps, attempt, `this admin does not reach app "${app}"`);
  const draft = await draftSession(deps, { id, kind: 'admin', grant, app, origin });
  await tryExclusively(deps, attempt, async (sql) => {
    await completeAttempt(sql, deps, attempt);
    await insertSession(sql, 'workspace', draft.row);
    return true;
  });
  await deps.passwords.renew(
    { owner, password, hash: known.password_hash },
    (hashes) => control.run((sql) => rehashAdmin(sql, known.id, hashes)),
  );
  return { pair: await issueSignIn(deps, attempt, draft), admin: showAdmin(known) };
}

/** The grant of an admin's token; undefined for an app that the admin does not reach. */
export async function adminGrant(
  { definitions }: Pick<Deps, 'definitions'>,
  { id, workspace, role, app_ids }: AdminRow,
  app: string | undefined,
): Promise<Grant | undefined> {
  if (app === undefined) {
    return role === 'app_admin' ? { role, id, workspace, apps: app_ids } : { role, id, workspace };
  }
  if (role === 'app_admin' && !app_ids.includes(app)) return undefined;
  if (await definitions.app(workspace, app) === undefined) return undefined;
  return { role: 'app_admin', id, workspace, apps: [app], narrowed: true };
}
