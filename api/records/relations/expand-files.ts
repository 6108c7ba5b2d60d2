// Files in the query parameter `expand`: what they are, with a link for a few minutes, for callers who may read them.
import { type FileRow, findFiles } from '../../../storage/app/files.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { selectRecords } from '../../../storage/app/records/related-records.ts';
import type { RowBudget } from '../../../storage/app/records/row-budget.ts';
import type { Access } from '../../rules/access.ts';
import { fileReaders, readableFiles } from '../../rules/files.ts';
import { relatedGuard } from '../../rules/related.ts';
import type { RecordScope } from '../collection.ts';
import type { Expansion } from '../input/selection.ts';
import type { FileLinks } from '../ports.ts';
import type { Branch } from './expand-paths.ts';
import { failTooLarge, referencedIds, selectRelated } from './select-related.ts';

/** Files in one response, at most. */
const maxFiles = 2_000;
/** Files that are looked up one by one, because the caller may not get the records that they were found by. */
const maxSingly = 200;
/** The length of a file in a response, about. Characters. */
const fileLength = 600;

/** A field that holds files, and the records whose files are asked for. */
interface FileStage {
  branch: Branch;
  holders: readonly { record: StoredRecord; expansion: Expansion; times: number }[];
}

/** What an expansion goes by. */
interface FileExpansion {
  access: Access;
  links: FileLinks;
  room: RowBudget;
}

/**
 * Adds the files that the caller may read, as `GET …/files/:id` decides it, and returns how much longer the response becomes.
 * Throws `400 validation` when there are too many.
 */
export async function expandFiles(
  scope: RecordScope,
  stages: readonly FileStage[],
  { links, ...asking }: FileExpansion,
): Promise<number> {
  const ids = new Set(stages.flatMap(({ branch, holders }) => filesIn(branch, holders)));
  if (ids.size > maxFiles) failTooLarge();
  const files = ids.size === 0 ? [] : await findReadable(scope, stages, { ...asking, ids });
  const { app } = scope.target;
  const shown = new Map(files.map((file) => [file.id, links.show(app, file)]));
  let count = 0;
  for (const { branch, holders } of stages) {
    for (const { record, expansion, times } of holders) {
      const found = referencedIds(record, branch.field).flatMap((id) => shown.get(id) ?? []);
      count += found.length * times;
      expansion[branch.field] = branch.isMany ? found : found[0] ?? null;
    }
  }
  return count * fileLength;
}

async function findReadable(
  scope: RecordScope,
  stages: readonly FileStage[],
  { access, room, ids }: { access: Access; room: RowBudget; ids: ReadonlySet<string> },
): Promise<FileRow[]> {
  const { connection, policies, target: { app } } = scope;
  if (access.readsFiles?.(app) === false) return [];
  const files = await connection.run((sql) => findFiles(sql, app.schema, [...ids]));
  if (access.unbounded) return files;
  const readers = await fileReaders({ app, policies });
  const isOpen = access.request.auth !== null && readers.includes('signed_in');
  const known = readers.includes('records') && !isOpen
    ? await heldReadably(scope, stages, { access, room })
    : new Set<string>();
  const others = files.filter(({ id }) => !known.has(id)).map(({ id }) => id);
  if (others.length > maxSingly && !isOpen) failTooLarge();
  const rest = others.length === 0 ? known : await readableFiles({ ...scope, app }, access, others);
  return files.filter(({ id }) => known.has(id) || rest.has(id));
}

/** The files of those of the records that the caller may get: one statement for each collection. */
async function heldReadably(
  scope: RecordScope,
  stages: readonly FileStage[],
  { access, room }: { access: Access; room: RowBudget },
): Promise<Set<string>> {
  const guard = relatedGuard(access, scope.target.app);
  const wanted = new Map<string, { ids: Set<string>; fields: Set<string> }>();
  for (const { branch: { field }, holders } of stages) {
    for (const { record: { id, collection } } of holders) {
      const entry = wanted.get(collection) ?? { ids: new Set(), fields: new Set() };
      wanted.set(collection, entry);
      entry.ids.add(id);
      entry.fields.add(field);
    }
  }
  const held = new Set<string>();
  for (const [collection, { ids, fields }] of wanted) {
    // A view holds no file: the records that it reads do.
    if (scope.target.app.collections.get(collection)?.kind === 'view') continue;
    const records = await selectRelated(scope, collection, {
      rule: guard?.(collection),
      read: (sql, plan, rule) => selectRecords(sql, plan, [...ids], { rule, budget: room }),
    });
    // As they are by now: the file may have left the record.
    for (const record of records) {
      for (const id of [...fields].flatMap((field) => referencedIds(record, field))) held.add(id);
    }
  }
  return held;
}

function filesIn({ field }: Branch, holders: readonly { record: StoredRecord }[]): string[] {
  return holders.flatMap(({ record }) => referencedIds(record, field));
}
