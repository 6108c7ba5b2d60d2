// Schemas of the email addresses and passwords in request bodies.
import { string } from './schema.ts';

/** An email address: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
export const emailText = string({
  max: 254,
  pattern:
    /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
  hint: 'must be an email address',
  format: 'email',
});

/** The longest password in characters; longer ones are refused before they are hashed. */
export const maxPasswordLength = 4_096;

/** A password. Its minimal length is a matter of policy. */
export const passwordText = string({ min: 1, max: maxPasswordLength });
