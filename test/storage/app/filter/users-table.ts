// The database that filters are tested in, and the users of a workspace in it.
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool } from '../../../../storage/connections/pool.ts';
import { clusterEndpoint } from '../../../harness/database.ts';

/** As far as filters see the users of a workspace. */
export const usersTable = `create schema workspace;
  create table workspace.users (
    id uuid primary key, email text not null, password_hash text, verified boolean not null,
    last_login timestamptz, created_at timestamptz not null, updated_at timestamptz not null);
  create view workspace.users_public as
    select id, email, verified, false as has_password, false as totp_enabled, '[]'::jsonb as oauth_providers,
      last_login, created_at, updated_at
    from workspace.users`;

/** A pool of one connection to a database of the tests' cluster. */
export function openPool(database: string): Pool {
  return new Pool(clusterEndpoint(database), { cap: 1, permits: unlimitedPermits, now: Date.now });
}
