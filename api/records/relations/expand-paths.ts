// The paths of the query parameter `expand`: relations forwards (`author.company`) and backwards (`comments_via_issue`).
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { findBackward } from '../../../storage/app/filter/reach.ts';
import { appScope } from '../../../storage/app/filter/source.ts';
import { type AppDefinition, filesId } from '../../../storage/definition.ts';
import { failValidation, unknownColumn } from '../../errors.ts';
import type { RecordTarget } from '../collection.ts';

/** A relation to follow, and the relations to follow from there. */
export interface Branch {
  /** The name that was asked for. */
  field: string;
  /** The collection that it leads to, or the files. */
  target: string;
  /** The relation of that collection that a name such as `comments_via_issue` follows backwards. */
  by?: string | undefined;
  /** True when that relation holds many. */
  byMany?: boolean;
  /** True when it leads to many records, backwards or along a relation that holds many. */
  isMany: boolean;
  branches: Branches;
}

const maxDepth = 3;
const maxRelations = 20;

/** Relations to follow, by name. */
export type Branches = Map<string, Branch>;

/**
 * Reads `author,author.company,comments_via_issue`. Throws `400 unknown_column` for a name that is no relation of its collection,
 * `400 validation` for more than 3 in a row or 20 in all.
 */
export function readExpand({ app, collection }: RecordTarget, expand: string | undefined): Branches {
  const branches: Branches = new Map();
  if (expand === undefined || expand.trim() === '') return branches;
  let count = 0;
  for (const path of expand.split(',')) {
    let place = { id: collection.id, branches };
    const names = path.trim().split('.');
    if (names.length > maxDepth) {
      failValidation([{ field: 'expand', reason: `at most ${maxDepth} relations in a row can be followed` }]);
    }
    for (const name of names) {
      let branch = place.branches.get(name);
      if (branch === undefined) {
        branch = { field: name, ...relationOf(app, place.id, name), branches: new Map() };
        place.branches.set(name, branch);
        if (++count > maxRelations) {
          failValidation([{ field: 'expand', reason: `at most ${maxRelations} relations can be followed` }]);
        }
      }
      place = { id: branch.target, branches: branch.branches };
    }
  }
  return branches;
}

function relationOf(
  app: AppDefinition,
  collection: string,
  name: string,
): Omit<Branch, 'field' | 'branches'> {
  if (collection === filesId) failNoRelation('a file', name);
  const field = app.collections.get(collection)?.fields.find((field) => field.name === name);
  if (field === undefined) {
    const backward = findBackward(name, { id: collection }, appScope(app));
    if (backward !== undefined) {
      const { target, source, by } = backward;
      return { target, by, byMany: source.columns.get(by ?? '')?.isMany === true, isMany: true };
    }
  }
  const target = field === undefined ? undefined : pointsTo(field);
  if (target === undefined) failNoRelation(`"${collection}"`, name);
  return { target, isMany: field?.many === true };
}

function failNoRelation(holder: string, name: string): never {
  throw unknownColumn('expand', `${holder} has no relation "${name.slice(0, 100)}"`);
}
