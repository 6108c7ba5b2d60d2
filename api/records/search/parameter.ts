// The query parameter `search` of lists.
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import { countCharacters, textFault } from '../../../storage/sql/characters.ts';
import { failValidation } from '../../errors.ts';

/** Each word costs the database time. */
const maxWords = 20;
const maxCharacters = 200;

/** The words of a search; undefined when there are none. Throws `400 validation`. */
export function readSearch(plan: RecordPlan, search: string | undefined): string[] | undefined {
  const words = search?.split(/\s+/u).filter((word) => word !== '') ?? [];
  if (search === undefined || words.length === 0) return undefined;
  if (plan.search === undefined) refuse(`no field of "${plan.collection}" is declared with search: true`);
  if (countCharacters(search) > maxCharacters) refuse(`must have at most ${maxCharacters} characters`);
  if (words.length > maxWords) refuse(`must have at most ${maxWords} words`);
  const fault = textFault(search);
  if (fault !== undefined) refuse(fault);
  return words;
}

/** Throws `400 validation` for a request that has a search where none is possible. */
export function refuseSearch(search: string | undefined, what: string): void {
  if (search !== undefined) refuse(`${what} cannot be searched; use filter`);
}

function refuse(reason: string): never {
  failValidation([{ field: 'search', reason }]);
}
