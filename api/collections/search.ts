// The declaration of how the texts of a collection are searched.
import type { CollectionDefinition, Field, SearchSetting } from '../../storage/definition.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { hasTrigrams, searchedFields, searchLanguages } from '../../storage/app/search/index-of-words.ts';
import { failValidation } from '../errors.ts';

const defaultLanguage = 'simple';

/** More would leave each of them too few characters. */
const maxSearched = 32;

/**
 * The setting that follows from a declaration; without a language in it, that of before. Null without a language and searched
 * fields. Throws `400 validation` for an unknown language, naming those that there are.
 */
export async function searchSetting(
  sql: Sql,
  before: CollectionDefinition['search'],
  { language, fields }: { language?: string | undefined; fields: readonly Field[] },
): Promise<SearchSetting | null> {
  const searched = searchedFields(fields).length;
  if (searched > maxSearched) {
    failValidation([{ field: 'schema.fields', reason: `at most ${maxSearched} of them can be searched` }]);
  }
  const wanted = language ?? before?.language ?? (searched > 0 ? defaultLanguage : undefined);
  if (wanted === undefined) return null;
  if (wanted !== before?.language) {
    const known = await searchLanguages(sql);
    if (!known.includes(wanted)) {
      const reason = `"${wanted.slice(0, 100)}" is not one of ${known.join(', ')}`;
      failValidation([{ field: 'schema.language', reason }]);
    }
  }
  return { language: wanted, tolerant: await hasTrigrams(sql) };
}
