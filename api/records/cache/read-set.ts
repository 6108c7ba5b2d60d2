// Read sets: everything that a cached record or total depends on, by the names under which writes are tracked.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Condition } from '../../../storage/app/filter/condition.ts';
import { compiledRule, mentionsNow, relatedCollections } from '../../rules/compile.ts';
import type { RecordTarget } from '../collection.ts';
import type { Narrowing } from '../ports.ts';
import { allRecordsName, tableName, usersName } from './tracked-names.ts';

/** Everything that a total depends on. */
export interface ReadSet {
  /** True when every write to the tables is tracked. */
  isTracked: boolean;
  tables: readonly string[];
  /** The versions of the definitions that the tables have. */
  versions: string;
}

/** The read set of a total; undefined when the total depends on the time, or on a query. */
export function readSetOf(
  { app, collection }: RecordTarget,
  { rule, filter, guarded }: Narrowing,
): ReadSet | undefined {
  // Its query may read the time, and any collection of the app.
  if (collection.kind === 'view') return undefined;
  const names = new Set<string>();
  const conditions = filter === undefined ? [rule] : [rule, filter];
  if (filter !== undefined && guarded) {
    for (const name of relatedOf(filter)) {
      const target = app.collections.get(name);
      if (target !== undefined) conditions.push(compiledRule(app, target, 'get').condition);
    }
  }
  for (const condition of conditions) {
    if (mentionsNow(condition)) return undefined;
    for (const name of relatedOf(condition)) names.add(name);
  }
  names.add(collection.id);
  const related = [...names];
  return {
    // Each sign-in changes a user, and so what profiles show of it.
    isTracked: related.every((name) => app.collections.get(name)?.kind === 'base'),
    tables: [usersName(app.workspace.database), ...related.map((name) => tableName(app, name))],
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

const readSetsOfRecords = new WeakMap<AppDefinition, readonly string[]>();

/** The names that a record of an app depends on besides its own id. */
export function readSetOfRecord(app: AppDefinition): readonly string[] {
  let names = readSetsOfRecords.get(app);
  if (names === undefined) {
    names = [usersName(app.workspace.database), allRecordsName(app)];
    readSetsOfRecords.set(app, names);
  }
  return names;
}
