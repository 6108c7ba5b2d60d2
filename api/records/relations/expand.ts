// The query parameter `expand`: records with those that their relations lead to, forwards and backwards. One query for each
// level and collection.
import type { RowBudget, RowMemory } from '../../../storage/app/records/row-budget.ts';
import type { Residue } from '../../../storage/app/filter/fold.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { selectRecords } from '../../../storage/app/records/related-records.ts';
import type { Access } from '../../rules/access.ts';
import { relatedGuard } from '../../rules/related.ts';
import { filesId } from '../../../storage/definition.ts';
import type { RecordScope } from '../collection.ts';
import type { FileLinks } from '../ports.ts';
import { recordLength } from '../input/length.ts';
import type { Expansion, RecordSelector, RelatedRecord } from '../input/selection.ts';
import type { Branch, Branches } from './expand-paths.ts';
import { findBackwardRecords } from './backward.ts';
import { failTooLarge, referencedIds, selectRelated } from './select-related.ts';
import { expandFiles } from './expand-files.ts';

/** A record whose relations are to be followed, and where to put what is found. */
interface Holder {
  record: StoredRecord;
  expansion: Expansion;
  /** How often it is in the response. */
  times: number;
}

/** Records and the relation of theirs to follow. */
interface Stage {
  branch: Branch;
  holders: readonly Holder[];
}

/** One large record that many point to is repeated for each of them. Characters. */
const maxLength = 64 * 1_048_576;

/** Records, and the relations of theirs to follow. */
export interface ExpandInput {
  access: Access;
  branches: Branches;
  records: readonly StoredRecord[];
  links: FileLinks;
  memory?: RowMemory | undefined;
}

/**
 * Reads the records that relations lead to, each under its own `get` rule. Returns a selector that adds them, for these
 * records only. Throws `400 validation` when that would be too much for one response.
 */
export async function expandRelations(
  select: RecordSelector,
  scope: RecordScope,
  { access, branches, records, links, memory }: ExpandInput,
): Promise<RecordSelector> {
  const guard = relatedGuard(access, scope.target.app);
  const expansions = new Map(records.map((record): [StoredRecord, Expansion] => [record, {}]));
  const holders = [...expansions].map(([record, expansion]) => ({ record, expansion, times: 1 }));
  let length = 0;
  let stages: Stage[] = [...branches.values()].map((branch) => ({ branch, holders }));
  while (stages.length > 0) {
    const room = { left: maxLength - length, memory };
    const toFiles = stages.filter(({ branch }) => branch.target === filesId);
    const toRecords = stages.filter(({ branch }) => branch.target !== filesId);
    length += await expandFiles(scope, toFiles, { access, links, room });
    const forward = toRecords.filter(({ branch }) => branch.by === undefined);
    const [found, referrers] = await Promise.all([
      findRelated(scope, guard, forward, room),
      findBackwardRecords(scope, guard, toRecords, room),
    ]);
    stages = toRecords.flatMap(({ branch, holders }) => {
      const related = attach(
        branch,
        holders,
        (record) =>
          branch.by === undefined
            ? referencedIds(record, branch.field).flatMap((id) => found.get(branch.target)?.get(id) ?? [])
            : referrers.of(branch, record.id),
      );
      for (const { record, times } of related) length += recordLength(record) * times;
      return [...branch.branches.values()].map((branch) => ({ branch, holders: related }));
    });
    if (length > maxLength) failTooLarge();
  }
  return (record) => ({ ...select(record), expand: expansions.get(record) ?? {} });
}

type Found = Map<string, StoredRecord>;

/** The records that all stages point to, by collection and id. */
async function findRelated(
  scope: RecordScope,
  guard: ((target: string) => Residue) | undefined,
  stages: readonly Stage[],
  room: RowBudget,
): Promise<Map<string, Found>> {
  const wanted = new Map<string, Set<string>>();
  for (const { branch: { field, target }, holders } of stages) {
    const ids = wanted.get(target) ?? new Set();
    wanted.set(target, ids);
    for (const { record } of holders) {
      for (const id of referencedIds(record, field)) ids.add(id);
    }
  }
  const entries = [...wanted].filter(([, ids]) => ids.size > 0).map(
    async ([target, ids]): Promise<[string, Found]> => {
      const records = await selectRelated(scope, target, {
        rule: guard?.(target),
        read: (sql, plan, rule) => selectRecords(sql, plan, [...ids], { rule, budget: room }),
      });
      return [target, new Map(records.map((record) => [record.id, record]))];
    },
  );
  return new Map(await Promise.all(entries));
}

/** Puts the found records into the expansions that they belong to, and returns each of them once. */
function attach(
  { field, isMany, branches }: Branch,
  holders: readonly Holder[],
  recordsOf: (holder: StoredRecord) => readonly StoredRecord[],
): Holder[] {
  const related = new Map<string, { shown: RelatedRecord; holder: Holder }>();
  for (const { record, expansion, times } of holders) {
    const shown = recordsOf(record).map((hit) => {
      let entry = related.get(hit.id);
      if (entry === undefined) {
        const holder = { record: hit, expansion: {}, times: 0 };
        entry = { shown: branches.size === 0 ? hit : { ...hit, expand: holder.expansion }, holder };
        related.set(hit.id, entry);
      }
      entry.holder.times += times;
      return entry.shown;
    });
    expansion[field] = isMany ? shown : shown[0] ?? null;
  }
  return [...related.values()].map(({ holder }) => holder);
}
