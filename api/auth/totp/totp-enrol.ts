// An end-user turns the second factor on and off.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import {
  dropTotp,
  enableTotp,
  findTotp,
  replaceRecoveryCodes,
  setPendingTotp,
} from '../../../storage/workspace/totp.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import type { UserRow } from '../../../storage/workspace/user-accounts.ts';
import type { Caller } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { Principal } from '../../scope.ts';
import { type Attempt, beginAttempt, failAttempt, tryExclusively } from '../login/attempt.ts';
import { requireUser } from '../account/me.ts';
import { useSecondFactor } from './second-factor.ts';
import { findTimeStep, makeRecoveryCodes, makeTotpSecret } from './totp.ts';
import { userAttempt } from '../login/user-attempt.ts';

type TotpDeps = Pick<Deps, 'config' | 'databases' | 'secrets' | 'newId' | 'now'>;

/** The user who asks, and the code that is sent along. */
export interface TotpRequest extends Caller {
  code: string;
}

/** Returns a secret that waits to be confirmed. Throws `409 conflict` when the factor is active. */
export async function enrolTotp(
  deps: TotpDeps,
  workspace: WorkspaceDefinition,
  principal: Principal,
): Promise<{ secret: string; qr_url: string }> {
  const { id: userId, email } = await requireUser(deps, principal, workspace);
  const { issuer } = deps.config.auth;
  const { text, uri, sealed } = makeTotpSecret(deps.secrets, { userId, email, issuer });
  const isPending = await deps.databases.workspace(workspace.database).run((sql) =>
    setPendingTotp(sql, userId, sealed)
  );
  if (!isPending) failActive();
  return { secret: text, qr_url: uri };
}

/** Makes the factor active and returns recovery codes, this once. Throws `401`, `409`, `429`. */
export async function confirmTotp(
  deps: TotpDeps,
  workspace: WorkspaceDefinition,
  request: TotpRequest,
): Promise<string[]> {
  const { code, now } = request;
  const { user, attempt } = await begin(deps, workspace, request);
  const { connection } = attempt;
  const known = await connection.run((sql) => findTotp(sql, user.id));
  if (known?.totp_enabled === true) failActive();
  const sealed = known?.totp_sealed ?? fail('conflict', 'there is no enrolment to confirm');
  const step = findTimeStep(deps.secrets, { userId: user.id, sealed, code, now });
  if (step === undefined) return await failAttempt(deps, attempt);
  const { codes, hashes } = makeRecoveryCodes(deps.secrets, user.id);
  await connection.transaction(async (sql) => {
    if (!await enableTotp(sql, user.id, { sealed, step, now })) failActive();
    await replaceRecoveryCodes(sql, user.id, hashes);
    await audit(deps, attempt, { sql, user, action: 'totp_enable' });
  });
  return codes;
}

/** Turns the factor off. Throws `401 bad_credentials`, `409 conflict` when it is not active, `429`. */
export async function disableTotp(
  deps: TotpDeps,
  workspace: WorkspaceDefinition,
  request: TotpRequest,
): Promise<void> {
  const { code, now } = request;
  const { user, attempt } = await begin(deps, workspace, request);
  if (!user.totp_enabled) fail('conflict', 'the second factor is not active');
  await tryExclusively(deps, attempt, async (sql) => {
    if (!await useSecondFactor(sql, deps.secrets, { userId: user.id, code, now })) return undefined;
    await dropTotp(sql, user.id, now);
    await audit(deps, attempt, { sql, user, action: 'totp_disable' });
    return true;
  });
}

async function begin(
  deps: TotpDeps,
  workspace: WorkspaceDefinition,
  { principal, origin, now }: TotpRequest,
): Promise<{ user: UserRow; attempt: Attempt }> {
  const user = await requireUser(deps, principal, workspace);
  const attempt = userAttempt(deps, workspace, { email: user.email, proof: 'code', origin, now });
  await beginAttempt(deps, attempt);
  return { user, attempt };
}

async function audit(
  deps: TotpDeps,
  { origin }: Attempt,
  { sql, user, action }: { sql: Sql; user: UserRow; action: string },
): Promise<void> {
  const { id, email } = user;
  await auditWorkspace(sql, deps, { actor: email, action, target: email, details: { id }, origin });
}

function failActive(): never {
  fail('conflict', 'the second factor is active');
}
