// The end-users of a workspace, as its admins see them.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import { findUser, selectUsers as listRows } from '../../storage/workspace/user-accounts.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { showUser, type User } from '../auth/account/user-response.ts';

/** In the order of their creation; `part` is a part of the email. */
export async function listUsers(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  { part, page }: { part: string | undefined; page: PageRequest },
): Promise<Page<User>> {
  const found = await databases.workspace(database).run((sql) => listRows(sql, part, page));
  return { ...found, items: found.items.map(showUser) };
}

/** One of them. Throws `404 not_found`. */
export async function getUser(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  id: string,
): Promise<User> {
  const row = isUuid(id) ? await databases.workspace(database).run((sql) => findUser(sql, id)) : undefined;
  return showUser(row ?? failNoUser(id));
}

/** Ends a request for a user who does not exist. */
export function failNoUser(id: string): never {
  fail('not_found', `user "${id}" does not exist`);
}
