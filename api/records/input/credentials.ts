// The email and password in the body of a new profile, and the members of a profile that no body can set.
import { email as emailKind } from '../../../storage/app/fields/email.ts';
import { isUserField } from '../../../storage/workspace/identities.ts';
import { maxPasswordLength } from '../../contract/credentials.ts';
import { type FieldError, reasons } from '../../errors.ts';

type Body = Readonly<Record<string, unknown>>;

/** The user of a new profile, who is created when there is a password. */
export interface Credentials {
  /** Lower case. */
  email: string;
  password: string | undefined;
}

const readEmail = emailKind.reader({ name: 'email', kind: 'email', required: true });

/** The reason why a body cannot set a member of a profile; undefined for a name that profiles do not have. */
export function memberRefusal(name: string): string | undefined {
  if (name === 'email') return 'cannot be changed here; the user changes it with auth/email-change';
  if (name === 'password') return 'cannot be changed here; the user changes it with auth/password-reset';
  return isUserField(name) ? 'is read-only' : undefined;
}

/** Reads `email` and `password`, and adds what is wrong with them to `errors`. */
export function readCredentials(input: Body, errors: FieldError[]): Credentials {
  const [email, password] = [ownMember(input, 'email'), ownMember(input, 'password')];
  const reading = email === undefined || email === null ? { reason: reasons.required } : readEmail(email);
  if ('reason' in reading) errors.push({ field: 'email', reason: reading.reason });
  const isText = typeof password === 'string' && password.length > 0 && password.length <= maxPasswordLength;
  if (password !== undefined && !isText) {
    errors.push({ field: 'password', reason: `must be a string of 1 to ${maxPasswordLength} characters` });
  }
  return {
    email: 'value' in reading ? String(reading.value) : '',
    password: isText ? password : undefined,
  };
}

/** A member of the body itself: a tenant may name a field `constructor`. */
export function ownMember(input: Body, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}
