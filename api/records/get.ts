// Reading one record.
import { RowsMustWait } from '../../storage/app/records/row-budget.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { selectChecked } from '../../storage/app/records/records.ts';
import { fail } from '../errors.ts';
import { type Access, refuse } from '../rules/access.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { expandRelations } from './relations/expand.ts';
import { readExpand } from './relations/expand-paths.ts';
import { ruleRestriction } from './relations/restrict.ts';
import { recordLength } from './input/length.ts';
import { readFields, type SelectedRecord } from './input/selection.ts';
import type { PageMemory } from './page-memory.ts';
import { readRecord } from './read.ts';

/** A record that is asked for, and which of its fields. */
export interface RecordLookup {
  access: Access;
  id: string;
  /** Names separated by commas, as in the query. */
  fields?: string | undefined;
  expand?: string | undefined;
  memory?: PageMemory | undefined;
}

/**
 * Returns a record. Throws `404` when there is none, `401` or `403` when the rule does not admit it, `400 unknown_column`
 * for a field that does not exist.
 */
export async function getRecord(
  deps: RecordDeps,
  target: RecordTarget,
  { access, id, fields, expand, memory }: RecordLookup,
): Promise<SelectedRecord> {
  return await onCollection(deps, target, async (scope) => {
    const rule = ruleRestriction(access, scope.target);
    if (!isUuid(id)) failMissing(id);
    const select = readFields(scope.plan, fields);
    const branches = readExpand(scope.target, expand);
    const weight = scope.plan.weights.get;
    const read = async () => {
      const reading = readRecord(deps, scope, { access, id, rule });
      const found = reading instanceof Promise ? await reading : reading;
      if (found === undefined) failMissing(id);
      if (!found.passes) refuse(access);
      if (memory?.keep(recordLength(found.record)) === false) throw new RowsMustWait();
      memory?.noteRows(weight);
      if (branches.size === 0) return select(found.record);
      const show = await expandRelations(select, scope, {
        access,
        branches,
        records: [found.record],
        links: deps.fileLinks,
        memory,
      });
      return show(found.record);
    };
    return await (memory === undefined ? read() : memory.read(weight, 1, read));
  });
}

/** Throws `404` when there is no such record. */
export async function requireRecord(deps: RecordDeps, target: RecordTarget, id: string): Promise<void> {
  if (!isUuid(id)) failMissing(id);
  await onCollection(deps, target, async ({ plan, connection }) => {
    if (await connection.run((sql) => selectChecked(sql, plan, id)) === undefined) failMissing(id);
  });
}

/** Ends the request with `404`: there is no such record. */
export function failMissing(id: string): never {
  fail('not_found', `record "${id.slice(0, 100)}" does not exist`);
}
