// The query parameter `expand`: records with those that their relations point to. One query for each level and collection.
import { type RowBudget, type RowMemory, RowsTooLarge } from '../../../storage/app/records/row-budget.ts';
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { type AppDefinition, filesId } from '../../../storage/definition.ts';
import type { Residue } from '../../../storage/app/filter/fold.ts';
import { readableCollection } from '../../../storage/workspace/identities.ts';
import { planFor, type StoredRecord } from '../../../storage/app/records/plan.ts';
import { selectRecords } from '../../../storage/app/records/related-records.ts';
import { fail, failValidation, unknownColumn } from '../../errors.ts';
import type { Access } from '../../rules/access.ts';
import { relatedGuard } from '../../rules/related.ts';
import type { RecordScope, RecordTarget } from '../collection.ts';
import { recordLength } from '../input/length.ts';
import type { Expansion, RecordSelector, RelatedRecord } from '../input/selection.ts';

/** A relation to follow, and the relations to follow from there. */
interface Branch {
  field: string;
  target: string;
  branches: Branches;
}

/** Relations to follow, by name. */
export type Branches = Map<string, Branch>;

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

const maxDepth = 3;
const maxRelations = 20;
/** One large record that many point to is repeated for each of them. Characters. */
const maxLength = 64 * 1_048_576;

/**
 * Reads `author,author.company`. Throws `400 unknown_column` for a name that is no relation of its collection,
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
        branch = { field: name, target: targetOf(app, place.id, name), branches: new Map() };
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

function targetOf(app: AppDefinition, collection: string, name: string): string {
  const field = app.collections.get(collection)?.fields.find((field) => field.name === name);
  const target = field === undefined ? undefined : pointsTo(field);
  if (target === undefined || target === filesId) {
    throw unknownColumn('expand', `"${collection}" has no relation "${name.slice(0, 100)}"`);
  }
  return target;
}

/** Records, and the relations of theirs to follow. */
export interface ExpandInput {
  access: Access;
  branches: Branches;
  records: readonly StoredRecord[];
  memory?: RowMemory | undefined;
}

/**
 * Reads the records that relations lead to, each under its own `get` rule. Returns a selector that adds them, for these
 * records only. Throws `400 validation` when that would be too much for one response.
 */
export async function expandRelations(
  select: RecordSelector,
  scope: RecordScope,
  { access, branches, records, memory }: ExpandInput,
): Promise<RecordSelector> {
  const guard = relatedGuard(access, scope.target.app);
  const expansions = new Map(records.map((record): [StoredRecord, Expansion] => [record, {}]));
  const holders = [...expansions].map(([record, expansion]) => ({ record, expansion, times: 1 }));
  let length = 0;
  let stages: Stage[] = [...branches.values()].map((branch) => ({ branch, holders }));
  while (stages.length > 0) {
    const room = { left: maxLength - length, memory };
    const found = await findRelated(scope, guard, stages, room);
    stages = stages.flatMap(({ branch, holders }) => {
      const related = attach(branch, holders, found.get(branch.target) ?? new Map());
      for (const { record, times } of related) length += recordLength(record) * times;
      return [...branch.branches.values()].map((branch) => ({ branch, holders: related }));
    });
    if (length > maxLength) failTooLarge();
  }
  return (record) => ({ ...select(record), expand: expansions.get(record) ?? {} });
}

function failTooLarge(): never {
  fail(
    'validation',
    'expand: the related records are too large for one response; ask for fewer records at once',
  );
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
      const id = idIn(record, field);
      if (id !== undefined) ids.add(id);
    }
  }
  const entries = [...wanted].map(async ([target, ids]): Promise<[string, Found]> => {
    const records = await select(scope, target, { ids: [...ids], rule: guard?.(target), room });
    return [target, new Map(records.map((record) => [record.id, record]))];
  });
  return new Map(await Promise.all(entries));
}

async function select(
  { target: { app }, connection }: RecordScope,
  target: string,
  { ids, rule, room }: { ids: readonly string[]; rule: Residue | undefined; room: RowBudget },
): Promise<StoredRecord[]> {
  if (ids.length === 0 || rule?.kind === 'constant' && !rule.passes) return [];
  const collection = readableCollection(app, target);
  if (collection === undefined) return [];
  const plan = planFor(app.schema, collection);
  try {
    return await connection.run((sql) => selectRecords(sql, plan, ids, { rule, budget: room }));
  } catch (error) {
    if (!(error instanceof RowsTooLarge)) throw error;
    failTooLarge();
  }
}

/** Puts the found records into the expansions that they belong to, and returns each of them once. */
function attach({ field, branches }: Branch, holders: readonly Holder[], found: Found): Holder[] {
  const related = new Map<string, { shown: RelatedRecord; holder: Holder }>();
  for (const { record, expansion, times } of holders) {
    const id = idIn(record, field);
    const hit = id === undefined ? undefined : found.get(id);
    if (hit === undefined) {
      expansion[field] = null;
      continue;
    }
    let entry = related.get(hit.id);
    if (entry === undefined) {
      const holder = { record: hit, expansion: {}, times: 0 };
      entry = { shown: branches.size === 0 ? hit : { ...hit, expand: holder.expansion }, holder };
      related.set(hit.id, entry);
    }
    entry.holder.times += times;
    expansion[field] = entry.shown;
  }
  return [...related.values()].map(({ holder }) => holder);
}

function idIn({ fields }: StoredRecord, name: string): string | undefined {
  const id = fields[name];
  return typeof id === 'string' ? id : undefined;
}
