// Records together with those that their relations point to: one query a level and collection, however many they are.
import type { AppDefinition } from '../../storage/definition.ts';
import type { Residue } from '../../storage/filter/fold.ts';
import { planOf, type StoredRecord } from '../../storage/record-plan.ts';
import { selectRecords } from '../../storage/related-records.ts';
import { selectUsers } from '../../storage/related-users.ts';
import { fail } from '../errors.ts';
import { type Access, guardOf } from '../rules/access.ts';
import type { RecordScope, RecordTarget } from './collection.ts';
import type { Expansion, RelatedRecord, Selection } from './selection.ts';

/** A relation to follow, and the relations to follow from there. */
interface Branch {
  field: string;
  target: string;
  branches: Branches;
}

/** Relations to follow, by name. */
export type Branches = Map<string, Branch>;

/** Records whose relations are to be followed, and where to put what is found. */
interface Stage {
  branch: Branch;
  holders: readonly { record: StoredRecord; expansion: Expansion }[];
}

const maximalDepth = 3;
const maximalRelations = 20;

/**
 * Reads `author,author.company`. Throws `400 unknown_column` for what is no relation of the collection that it is looked for
 * in, `400 validation` for more than 3 in a row or 20 in all.
 */
export function branchesOf({ app, collection }: RecordTarget, expand: string | undefined): Branches {
  const branches: Branches = new Map();
  if (expand === undefined || expand.trim() === '') return branches;
  let count = 0;
  for (const path of expand.split(',')) {
    let place = { id: collection.id, branches };
    const names = path.trim().split('.');
    if (names.length > maximalDepth) {
      fail('validation', `expand: at most ${maximalDepth} relations in a row can be followed`);
    }
    for (const name of names) {
      let branch = place.branches.get(name);
      if (branch === undefined) {
        branch = { field: name, target: targetOf(app, place.id, name), branches: new Map() };
        place.branches.set(name, branch);
        if (++count > maximalRelations) {
          fail('validation', `expand: at most ${maximalRelations} relations can be followed`);
        }
      }
      place = { id: branch.target, branches: branch.branches };
    }
  }
  return branches;
}

function targetOf(app: AppDefinition, collection: string, name: string): string {
  const field = app.collections.get(collection)?.fields.find((field) => field.name === name);
  return field?.kind === 'relation' && field.target !== undefined
    ? field.target
    : fail('unknown_column', `expand: "${collection}" has no relation "${name.slice(0, 100)}"`);
}

/** What is asked of the relations of some records. */
export interface Expanding {
  access: Access;
  branches: Branches;
  records: readonly StoredRecord[];
}

/** A selection that adds what relations lead to, each related record under its own `get` rule; for these records only. */
export async function expanding(
  select: Selection,
  scope: RecordScope,
  { access, branches, records }: Expanding,
): Promise<Selection> {
  const guard = guardOf(access, scope.target.app);
  const expansions = new Map(records.map((record): [StoredRecord, Expansion] => [record, {}]));
  const holders = [...expansions].map(([record, expansion]) => ({ record, expansion }));
  let stages: Stage[] = [...branches.values()].map((branch) => ({ branch, holders }));
  while (stages.length > 0) {
    const found = await findRelated(scope, guard, stages);
    stages = stages.flatMap((stage) => attach(stage, found.get(stage.branch.target) ?? new Map()));
  }
  return (record) => ({ ...select(record), expand: expansions.get(record) ?? {} });
}

type Found = Map<string, StoredRecord>;

/** All that the stages point to, by collection and id. */
async function findRelated(
  scope: RecordScope,
  guard: ((target: string) => Residue) | undefined,
  stages: readonly Stage[],
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
    const records = await select(scope, target, { ids: [...ids], rule: guard?.(target) });
    return [target, new Map(records.map((record) => [record.id, record]))];
  });
  return new Map(await Promise.all(entries));
}

async function select(
  { target: { app }, connection }: RecordScope,
  target: string,
  { ids, rule }: { ids: readonly string[]; rule: Residue | undefined },
): Promise<StoredRecord[]> {
  if (ids.length === 0 || rule?.kind === 'constant' && !rule.passes) return [];
  if (target === 'users') return await connection.run((sql) => selectUsers(sql, ids, rule));
  const collection = app.collections.get(target);
  if (collection === undefined) return [];
  return await connection.run((sql) => selectRecords(sql, planOf(app.schema, collection), ids, rule));
}

/** Puts what was found in its place; answers what is to be followed from there. */
function attach({ branch: { field, branches }, holders }: Stage, found: Found): Stage[] {
  const related = new Map<string, { record: RelatedRecord; expansion: Expansion }>();
  for (const { record, expansion } of holders) {
    const id = idIn(record, field);
    const hit = id === undefined ? undefined : found.get(id);
    if (id === undefined || hit === undefined) {
      expansion[field] = null;
      continue;
    }
    let holder = related.get(id);
    if (holder === undefined) {
      const further: Expansion = {};
      holder = { record: branches.size === 0 ? hit : { ...hit, expand: further }, expansion: further };
      related.set(id, holder);
    }
    expansion[field] = holder.record;
  }
  return [...branches.values()].map((branch) => ({ branch, holders: [...related.values()] }));
}

function idIn({ fields }: StoredRecord, name: string): string | undefined {
  const id = fields[name];
  return typeof id === 'string' ? id : undefined;
}
