// Write sets: everything that a write may change, by the names under which writes are tracked.
import { type AppDefinition, type CollectionDefinition, filesId } from '../../../storage/definition.ts';
import { referrersTo } from '../../../storage/app/records/referrers.ts';
import { requireCollection } from '../../target.ts';
import type { IntendedChange } from '../ports.ts';
import { allRecordsName, tableName, usersName } from './tracked-names.ts';

/** Everything that a write may change. */
export interface WriteSet {
  /** Tables and the like (`tracked-names.ts`). */
  names: readonly string[];
  /** Ids of records that were there before, where it is known which these are. */
  ids: readonly string[];
  /** The app that is written in, if it is one. */
  app?: AppDefinition | undefined;
}

/** The write set of a write in an app. Throws `404 not_found` for a collection that is not there. */
export function writeSetOf(app: AppDefinition, changes: readonly IntendedChange[]): WriteSet {
  const names = new Set<string>();
  const ids: string[] = [];
  for (const change of changes) {
    for (const name of namesOf(app, change)) names.add(name);
    const id = change.action === 'update' || change.action === 'delete' ? change.id : undefined;
    if (id !== undefined) ids.push(id);
  }
  return { names: [...names], ids, app };
}

/** The write set of the deletion of a user, in all apps of its workspace. */
export function writeSetOfUser(database: string): WriteSet {
  return { names: [usersName(database)], ids: [] };
}

function namesOf(app: AppDefinition, change: IntendedChange): readonly string[] {
  switch (change.action) {
    case 'create':
    case 'update':
      return [tableName(app, change.collection)];
    case 'delete': {
      // Records that point to this one are changed or deleted along with it, and so are those that point to them.
      const tables = tablesWith(app, requireCollection(app, change.collection));
      const isAlone = referrersTo(app, change.collection).length === 0;
      return isAlone ? tables : [...tables, allRecordsName(app)];
    }
    case 'delete_file': {
      const holders = referrersTo(app, filesId).map(({ collection }) => tableName(app, collection.id));
      return holders.length === 0 ? [] : [...holders, allRecordsName(app)];
    }
  }
}

const referring = new WeakMap<CollectionDefinition, string[]>();

/** The table of a collection, and those whose relations lead there. */
function tablesWith(app: AppDefinition, collection: CollectionDefinition): string[] {
  let tables = referring.get(collection);
  if (tables === undefined) {
    const reached = new Set([collection.id]);
    for (const id of reached) {
      for (const other of app.collections.values()) {
        if (other.fields.some(({ target }) => target === id)) reached.add(other.id);
      }
    }
    tables = [...reached].map((id) => tableName(app, id));
    referring.set(collection, tables);
  }
  return tables;
}
