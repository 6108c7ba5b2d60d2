// Access rules that read a field which is about to go.
import { FilterError } from '../../storage/app/filter/parse/error.ts';
import { parse } from '../../storage/app/filter/parse/parse.ts';
import { resolve } from '../../storage/app/filter/resolve.ts';
import { filterScope } from '../../storage/app/filter/source.ts';
import type { Action, AppDefinition, CollectionDefinition } from '../../storage/definition.ts';

const maxNamed = 20;

/** The rules of an app that would no longer compile without a field of a collection, as `collection.action`. */
export function rulesOfField(app: AppDefinition, { id }: CollectionDefinition, name: string): string[] {
  const before = app.collections.get(id);
  if (before === undefined) return [];
  const fields = before.fields.filter((field) => field.name !== name);
  const without = { ...app, collections: new Map([...app.collections, [id, { ...before, fields }]]) };
  const reading: string[] = [];
  for (const collection of app.collections.values()) {
    for (const action of Object.keys(collection.rules) as Action[]) {
      const filter = collection.rules[action]?.filter ?? '';
      // Whoever reads the field has its name in it.
      if (!filter.includes(name) || !compiles(app, collection.id, filter)) continue;
      if (!compiles(without, collection.id, filter)) reading.push(`${collection.id}.${action}`);
    }
  }
  return reading.sort();
}

/** What an error about the field says of its rules. */
export function describeRules(rules: readonly string[]): string {
  if (rules.length === 0) return '';
  const named = rules.slice(0, maxNamed).join(', ') + (rules.length > maxNamed ? ', …' : '');
  return `; until you change them, these access rules will then admit admins only: ${named}`;
}

function compiles(app: AppDefinition, id: string, filter: string): boolean {
  const collection = app.collections.get(id);
  if (collection === undefined) return false;
  try {
    resolve(parse(filter), filterScope(app, collection));
    return true;
  } catch (error) {
    if (error instanceof FilterError) return false;
    throw error;
  }
}
