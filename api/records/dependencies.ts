// Which tables a list is made of, and which a write may change: by their names as `Totals` knows them.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { filesId } from '../../storage/files.ts';
import { referrersOf } from '../../storage/records/referrers.ts';
import type { Condition } from '../../storage/filter/condition.ts';
import { mentionsNow, relatedCollections, ruleOf } from '../rules/compile.ts';
import type { RecordTarget } from './collection.ts';
import type { Basis } from './totals.ts';

/** Name of the workspace's users: they own records, and take them along. */
export function usersTable(database: string): string {
  return `${database}.users`;
}

function tableOf(app: AppDefinition, collection: string): string {
  return `${app.schema}.${collection}`;
}

/** What a list of records is narrowed by. */
export interface Narrowing {
  rule: Condition;
  filter: Condition | undefined;
  /** Whether the filter looks through relations only at what the rules of their collections admit. */
  guarded: boolean;
}

/** What a total depends on; undefined when it depends on the time. */
export function basisOf(
  { app, collection }: RecordTarget,
  { rule, filter, guarded }: Narrowing,
): Basis | undefined {
  const names = new Set<string>();
  const conditions = filter === undefined ? [rule] : [rule, filter];
  if (filter !== undefined && guarded) {
    for (const name of relatedOf(filter)) {
      const target = app.collections.get(name);
      if (target !== undefined) conditions.push(ruleOf(app, target, 'get').condition);
    }
  }
  for (const condition of conditions) {
    if (mentionsNow(condition)) return undefined;
    for (const name of relatedOf(condition)) names.add(name);
  }
  names.add(collection.id);
  const related = [...names];
  return {
    // Each sign-in changes a user, and what profiles show of it.
    isHeard: related.every((name) => app.collections.get(name)?.kind === 'base'),
    tables: [usersTable(app.workspace.database), ...related.map((name) => tableOf(app, name))],
    versions: related.map((name) => app.collections.get(name)?.version).join(' '),
  };
}

const related = new WeakMap<Condition, ReadonlySet<string>>();

function relatedOf(condition: Condition): ReadonlySet<string> {
  let names = related.get(condition);
  if (names === undefined) {
    names = relatedCollections(condition);
    related.set(condition, names);
  }
  return names;
}

/** The table that a create or an update changes. */
export function writtenTables({ app, collection }: RecordTarget): string[] {
  return [tableOf(app, collection.id)];
}

/** The tables that the deletion of a file may change. */
export function tablesWithFiles(app: AppDefinition): string[] {
  return [...new Set(referrersOf(app, filesId).map(({ collection }) => tableOf(app, collection.id)))];
}

const followers = new WeakMap<CollectionDefinition, string[]>();

/** The tables that a deletion may change: also those whose relations lead to the record, and to what goes with it. */
export function deletedTables({ app, collection }: RecordTarget): string[] {
  let tables = followers.get(collection);
  if (tables === undefined) {
    const reached = new Set([collection.id]);
    for (const id of reached) {
      for (const other of app.collections.values()) {
        if (other.fields.some(({ target }) => target === id)) reached.add(other.id);
      }
    }
    tables = [...reached].map((id) => tableOf(app, id));
    followers.set(collection, tables);
  }
  return tables;
}
