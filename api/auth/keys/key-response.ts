// An API key, as responses show it: never with its secret.
import type { ShownKeyRow } from '../../../storage/control/api-keys.ts';
import {
  array,
  described,
  nullable,
  object,
  oneOf,
  string,
  timestamp,
  type ValueOf,
} from '../../contract/schema.ts';

/** The members of a key. */
export const keyMembers = {
  id: string({ format: 'uuid' }),
  name: string(),
  role: oneOf(['api_key']),
  workspace: nullable(string()),
  app: nullable(string()),
  scopes: array(string()),
  maker: object({
    id: string({ format: 'uuid' }),
    name: described(string(), 'The user name or email address.'),
    role: oneOf(['master_admin', 'workspace_admin', 'app_admin']),
  }),
  created_at: timestamp(),
  expires_at: nullable(timestamp()),
  last_used_at: described(nullable(timestamp()), 'Up to 30 seconds old.'),
};

/** The schema of a key. */
export const keyResponse = object(keyMembers);

/** The type of a key. */
export type ApiKey = ValueOf<typeof keyResponse>;

/** Shows a key. */
export function showKey(row: ShownKeyRow): ApiKey {
  const { id, name, workspace, app, scopes, created_at, expires_at, last_used_at } = row;
  const maker = { id: row.maker, name: row.maker_name, role: row.maker_role };
  return { id, name, role: 'api_key', workspace, app, scopes, maker, created_at, expires_at, last_used_at };
}
