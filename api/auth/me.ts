// Who the bearer of a token is.
import { findAdmin } from '../../storage/admins.ts';
import { findMaster } from '../../storage/master-admins.ts';
import { type Admin, showAdmin, showMaster } from '../admins/shape.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { Principal } from '../scope.ts';

/** The admin behind a token. Throws `401 unauthorized` when it is gone. */
export async function describeMe(
  { databases: { control } }: Pick<Deps, 'databases'>,
  { role, id, workspace }: Principal,
): Promise<Admin> {
  if (role === 'master_admin' || workspace === undefined) {
    const master = await control.run((sql) => findMaster(sql, id));
    return master === undefined ? failGone() : showMaster(master);
  }
  const admin = await control.run((sql) => findAdmin(sql, workspace, id));
  return admin === undefined ? failGone() : showAdmin(admin);
}

function failGone(): never {
  fail('unauthorized', 'the bearer of this token is gone');
}
