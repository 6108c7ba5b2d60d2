// The API keys of a place.
import { findKey, selectKeys } from '../../../storage/control/api-keys.ts';
import type { Page, PageRequest } from '../../../storage/sql/page.ts';
import type { Deps } from '../../deps.ts';
import { failNoKey, keyPlace, type KeyTarget, requireKeyId } from './key-place.ts';
import { type ApiKey, showKey } from './key-response.ts';

/** The keys of a place, in the order of their creation. */
export async function listApiKeys(
  { databases }: Pick<Deps, 'databases'>,
  target: KeyTarget,
  page: PageRequest,
): Promise<Page<ApiKey>> {
  const found = await databases.control.run((sql) => selectKeys(sql, keyPlace(target), page));
  return { ...found, items: found.items.map(showKey) };
}

/** A key of a place. Throws `404 not_found`. */
export async function findApiKey(
  { databases }: Pick<Deps, 'databases'>,
  target: KeyTarget,
  id: string,
): Promise<ApiKey> {
  requireKeyId(id);
  const row = await databases.control.run((sql) => findKey(sql, keyPlace(target), id));
  return showKey(row ?? failNoKey(id));
}
