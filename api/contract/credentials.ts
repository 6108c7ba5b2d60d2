// The email addresses and passwords that request bodies may carry, whoever they belong to.
import { text } from './schema.ts';

/** An email address: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
export const emailText = text({
  max: 254,
  pattern:
    /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
  hint: 'must be an email address',
  format: 'email',
});

/** In characters: longer ones are refused before they are hashed. */
export const maxPasswordLength = 4_096;

/** A password; the policy says what is long enough. */
export const passwordText = text({ min: 1, max: maxPasswordLength });
