// The records that point to some records, for names such as `comments_via_issue` in the query parameter `expand`.
import type { Residue } from '../../../storage/app/filter/fold.ts';
import { selectReferrers } from '../../../storage/app/records/related-records.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { RowBudget } from '../../../storage/app/records/row-budget.ts';
import type { RecordScope } from '../collection.ts';
import type { Branch } from './expand-paths.ts';
import { failTooLarge, selectRelated } from './select-related.ts';

/** Records that one record is pointed to by, at most. */
const maxPerRecord = 100;

/** Records that are found backwards in one level of a response: those of the longest page. */
const maxInAll = 20_000;

/** A relation, and the records that may be pointed to. */
interface Stage {
  branch: Branch;
  holders: readonly { record: StoredRecord }[];
}

/** The records that point to others, in the order in which they were created. */
export interface BackwardRecords {
  of(branch: Branch, id: string): readonly StoredRecord[];
}

/** Finds the records that point backwards along the stages that have a `by`. One statement for each relation. */
export async function findBackwardRecords(
  scope: RecordScope,
  guard: ((target: string) => Residue) | undefined,
  stages: readonly Stage[],
  room: RowBudget,
): Promise<BackwardRecords> {
  const wanted = new Map<string, { target: string; by: string; byMany: boolean; ids: Set<string> }>();
  for (const { branch, holders } of stages) {
    const { target, by, byMany = false } = branch;
    if (by === undefined) continue;
    const entry = wanted.get(keyOf(branch)) ?? { target, by, byMany, ids: new Set() };
    wanted.set(keyOf(branch), entry);
    for (const { record } of holders) entry.ids.add(record.id);
  }
  const entries = wanted.entries().map(async ([key, { target, by, byMany, ids }]) => {
    const found = await selectRelated(scope, target, {
      rule: guard?.(target),
      read: (sql, plan, rule) =>
        selectReferrers(sql, plan, {
          by,
          byMany,
          ids: [...ids],
          each: maxPerRecord,
          all: maxInAll + 1,
          rule,
          budget: room,
        }),
    });
    if (found.length > maxInAll) failTooLarge();
    return [key, Map.groupBy(found, ({ holder }) => holder)] as const;
  });
  const found = new Map(await Promise.all(entries));
  return { of: (branch, id) => (found.get(keyOf(branch))?.get(id) ?? []).map(({ record }) => record) };
}

function keyOf({ target, by }: Branch): string {
  return `${target} ${by}`;
}
