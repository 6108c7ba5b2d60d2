// Checks new passwords against the policies of their workspace or app.
import { countCharacters } from '../../../storage/sql/characters.ts';
import { passwordText } from '../../contract/credentials.ts';
import type { Deps } from '../../deps.ts';
import { failValidation, type FieldError } from '../../errors.ts';
import type { Policies } from '../../policies/effective.ts';
import type { TenantPath } from '../../scope.ts';

/** Throws `400 validation` with everything that is wrong with the password. `field` is the member of the body. */
export async function checkNewPassword(
  policies: Policies,
  at: TenantPath,
  { field, password }: { field: string; password: string },
): Promise<void> {
  const errors = await findErrors(policies, at, { field, password });
  if (errors.length > 0) failValidation(errors);
}

/**
 * Returns the check of a route with a new password in this member of its body. For a body that is refused, the check finds
 * the errors of the password by policy, unless the schema of the body has refused the password itself.
 */
export function wrongPassword(field: 'password' | 'new_password') {
  return async (
    { deps, params }: { deps: Pick<Deps, 'policies'>; params: { readonly workspace?: string } },
    { [field]: password }: Readonly<Record<string, unknown>>,
  ): Promise<FieldError[]> => {
    const isKnownBad = typeof password !== 'string' || passwordText.accepts?.(password) !== true;
    return isKnownBad ? [] : await findErrors(deps.policies, params, { field, password });
  };
}

async function findErrors(
  policies: Policies,
  at: TenantPath,
  { field, password }: { field: string; password: string },
): Promise<FieldError[]> {
  const reasons: string[] = [];
  const { min, max } = await policies.range('password.length', at);
  const length = countCharacters(password.normalize('NFC'));
  if (length < min) reasons.push(`must have at least ${min} characters`);
  if (length > max) reasons.push(`must have at most ${max} characters`);
  if (await policies.toggle('password.require_upper', at) && !/\p{Lu}/u.test(password)) {
    reasons.push('needs an upper-case letter');
  }
  if (await policies.toggle('password.require_lower', at) && !/\p{Ll}/u.test(password)) {
    reasons.push('needs a lower-case letter');
  }
  if (await policies.toggle('password.require_digit', at) && !/\p{Nd}/u.test(password)) {
    reasons.push('needs a digit');
  }
  if (await policies.toggle('password.require_symbol', at) && !/[^\p{L}\p{Nd}\s]/u.test(password)) {
    reasons.push('needs a symbol');
  }
  return reasons.map((reason) => ({ field, reason }));
}
