// What the body of a new profile says of its user, and what no body can say of one.
import { email as emailKind } from '../../../storage/app/fields/email.ts';
import { isShownOfUser } from '../../../storage/workspace/identities.ts';
import { longestPassword } from '../../contract/credentials.ts';
import type { FieldError } from '../../errors.ts';

type Body = Readonly<Record<string, unknown>>;

/** Whom a profile is for; with a password the user is made. */
export interface Credentials {
  /** Lower case. */
  email: string;
  password: string | undefined;
}

const readEmail = emailKind.reader({ name: 'email', kind: 'email', required: true });

/** Why a body cannot set this member of a profile; undefined when it is none that a profile has. */
export function refusalOfMember(name: string): string | undefined {
  if (name === 'email') return 'cannot be changed here; the user changes it with auth/email-change';
  if (name === 'password') return 'cannot be changed here; the user changes it with auth/password-reset';
  return isShownOfUser(name) ? 'is read-only' : undefined;
}

/** Reads `email` and `password`; what is wrong with them is added to `errors`. */
export function readCredentials(input: Body, errors: FieldError[]): Credentials {
  const [email, password] = [memberOf(input, 'email'), memberOf(input, 'password')];
  const reading = email === undefined || email === null ? { reason: 'is required' } : readEmail(email);
  if ('reason' in reading) errors.push({ field: 'email', reason: reading.reason });
  const isText = typeof password === 'string' && password.length > 0 && password.length <= longestPassword;
  if (password !== undefined && !isText) {
    errors.push({ field: 'password', reason: `must be a string of 1 to ${longestPassword} characters` });
  }
  return {
    email: 'value' in reading ? String(reading.value) : '',
    password: isText ? password : undefined,
  };
}

/** A member that the body itself has: names are the tenant's, `constructor` among them. */
export function memberOf(input: Body, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}
