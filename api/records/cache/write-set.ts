// What lists and records are made of, and what writes may change: by names as `WriteLedger` knows them.
import { type AppDefinition, type CollectionDefinition, filesId } from '../../../storage/definition.ts';
import { referrersOf } from '../../../storage/app/records/referrers.ts';
import type { Condition } from '../../../storage/app/filter/condition.ts';
import { mentionsNow, relatedCollections, ruleOf } from '../../rules/compile.ts';
import { collectionOf } from '../../target.ts';
import type { RecordTarget } from '../collection.ts';
import type { IntendedChange } from '../write-context.ts';
import type { Basis } from './totals.ts';
import { type Extent, recordsOf } from './write-tracker.ts';

/** Name of the workspace's users: they own records, and take them along. */
function usersTable(database: string): string {
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

/** What a record depends on besides writes of itself. */
export function basisOfRecord(app: AppDefinition): readonly string[] {
  let names = basesOfRecords.get(app);
  if (names === undefined) {
    names = [usersTable(app.workspace.database), recordsOf(app)];
    basesOfRecords.set(app, names);
  }
  return names;
}

const basesOfRecords = new WeakMap<AppDefinition, readonly string[]>();

/** Everything that a write may change in an app. Throws `404 not_found` for a collection that is not there. */
export function writeSetOf(app: AppDefinition, changes: readonly IntendedChange[]): Extent {
  const names = new Set<string>();
  const ids: string[] = [];
  for (const change of changes) {
    for (const name of namesOf(app, change)) names.add(name);
    const id = change.action === 'update' || change.action === 'delete' ? change.id : undefined;
    if (id !== undefined) ids.push(id);
  }
  return { names: [...names], ids, app };
}

/** What the deletion of a user may change, in all apps of its workspace. */
export function writeSetOfUser(database: string): Extent {
  return { names: [usersTable(database)], ids: [] };
}

function namesOf(app: AppDefinition, change: IntendedChange): readonly string[] {
  switch (change.action) {
    case 'create':
    case 'update':
      return [tableOf(app, change.collection)];
    case 'delete': {
      // Also what points to the record, and to what goes with it.
      const tables = tablesWith(app, collectionOf(app, change.collection));
      const isAlone = referrersOf(app, change.collection).length === 0;
      return isAlone ? tables : [...tables, recordsOf(app)];
    }
    case 'delete_file': {
      const holders = referrersOf(app, filesId).map(({ collection }) => tableOf(app, collection.id));
      return holders.length === 0 ? [] : [...holders, recordsOf(app)];
    }
  }
}

const followers = new WeakMap<CollectionDefinition, string[]>();

/** The table of a collection, and those whose relations lead there. */
function tablesWith(app: AppDefinition, collection: CollectionDefinition): string[] {
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
