// An end-user, as responses show it.
import type { UserRow } from '../../../storage/workspace/user-accounts.ts';
import {
  array,
  boolean,
  described,
  nullable,
  object,
  string,
  timestamp,
  type ValueOf,
} from '../../contract/schema.ts';

/** The schema of an end-user. All apps of the workspace share it. */
export const userResponse = object({
  id: string({ format: 'uuid' }),
  email: string({ format: 'idn-email' }),
  verified: described(boolean(), 'True when the user has proved that the address is theirs.'),
  has_password: described(
    boolean(),
    'False for users who signed up with a mailed code or a provider and set no password.',
  ),
  totp_enabled: boolean(),
  last_login: nullable(timestamp()),
  oauth_providers: described(array(string()), 'Names of the linked providers.'),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** The type of an end-user. */
export type User = ValueOf<typeof userResponse>;

/** Shows a user, without the hash. */
export function showUser({ id, email, verified, password_hash, ...rest }: UserRow): User {
  return { id, email, verified, has_password: password_hash !== null, ...rest };
}
