// Checks a caller again during a long request: by then it may be logged out, removed or given other rights.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { decideScope, type Principal } from '../../scope.ts';

/** Throws `401 unauthorized`, `403 forbidden` when the caller, who was admitted to the app, would not be any more. */
export function requireStillAdmitted(
  { tokens }: Pick<Deps, 'tokens'>,
  { id, workspace }: AppDefinition,
  principal: Principal | null,
): void {
  if (principal === null) return;
  const left = tokens.current(principal) ?? fail('unauthorized', 'the access token has been revoked');
  if (decideScope('member', left, { workspace: workspace.id, app: id }) !== 'allow') {
    fail('forbidden', 'this token does not allow that');
  }
}
