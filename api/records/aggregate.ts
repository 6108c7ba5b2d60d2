// Aggregates of records: numbers about all records that the caller may list, or about groups of them.
import { StorageError } from '../../storage/errors.ts';
import { exceedsItsType } from '../../storage/sql/error-code.ts';
import { type Grouping, type RecordGroup, selectGroups } from '../../storage/app/records/groups/aggregate.ts';
import { RowsTooLarge } from '../../storage/app/records/row-budget.ts';
import { failValidation } from '../errors.ts';
import type { Access } from '../rules/access.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { labelOf, readFunctions, readGroup } from './input/aggregates.ts';
import { defaultMaxBytes, selectedBy } from './list.ts';
import type { PageMemory } from './page-memory.ts';

/** The query of an aggregate. */
export interface AggregateQuery {
  /** That to the list. */
  access: Access;
  /** Functions, separated by commas. */
  fn: string;
  /** Fields, separated by commas. */
  group?: string | undefined;
  filter?: string | undefined;
  /** Of the values of all groups together, roughly; that of a list when left out. */
  maxBytes?: number | undefined;
  memory?: PageMemory | undefined;
}

/** The results of each group by the names of the functions, and the values that make the group. */
export interface Aggregates {
  items: Record<string, unknown>[];
}

const maxGroups = 1_000;

/**
 * Aggregates the records that pass both the list rule and the filter. Throws what a list throws, and `400 validation` for wrong
 * functions, for more than 1,000 groups, and for a result that no number can be.
 */
export async function aggregateRecords(
  deps: RecordDeps,
  target: RecordTarget,
  { access, fn, group, filter, memory, maxBytes = defaultMaxBytes }: AggregateQuery,
): Promise<Aggregates> {
  return await onCollection(deps, target, async ({ plan, connection, target }) => {
    const { selection } = selectedBy(access, target, filter);
    const aggregates = readFunctions(plan, fn);
    const by = readGroup(plan, group);
    const weight = plan.weights.aggregate;
    const read = async () => {
      const grouping = { by, aggregates, limit: maxGroups + 1, budget: { left: maxBytes, memory } };
      const groups = await connection.run((sql) => selectGroups(sql, plan, selection, grouping)).catch(
        explain,
      );
      memory?.noteRows(weight);
      if (groups.length > maxGroups) {
        refuse('group', `makes more than ${maxGroups} groups; use a filter, or fewer fields`);
      }
      return { items: groups.map((found) => show({ by, aggregates }, found)) };
    };
    return await (memory === undefined ? read() : memory.read(weight, by.length === 0 ? 1 : maxGroups, read));
  });
}

function show(
  { by, aggregates }: Pick<Grouping, 'by' | 'aggregates'>,
  found: RecordGroup,
): Record<string, unknown> {
  const results = aggregates.map((aggregate, index) => [labelOf(aggregate), found.results[index]]);
  return {
    group: Object.fromEntries(by.map((name, index) => [name, found.by[index]])),
    ...Object.fromEntries(results),
  };
}

function explain(error: unknown): never {
  if (error instanceof RowsTooLarge) refuse('fn', 'the results are too large for one response; use a filter');
  if (error instanceof StorageError && exceedsItsType(error.cause)) {
    refuse('fn', 'a result is greater than a number can be; use a filter');
  }
  throw error;
}

function refuse(field: string, reason: string): never {
  failValidation([{ field, reason }]);
}
