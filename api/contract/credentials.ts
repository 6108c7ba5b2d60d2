// Schemas of the email addresses and passwords in request bodies.
import { addressFault } from '../../storage/sql/email-address.ts';
import { string } from './schema.ts';

/** An email address, whose domain may be in Unicode. */
export const emailText = string({
  max: 254,
  pattern: /^[^@\s]{1,64}@[^@\s]{1,253}$/,
  hint: 'must be an email address',
  faultOf: addressFault,
  format: 'idn-email',
});

/** The longest password in characters; longer ones are refused before they are hashed. */
export const maxPasswordLength = 4_096;

/** A password. Its minimal length is a matter of policy. */
export const passwordText = string({ min: 1, max: maxPasswordLength });
