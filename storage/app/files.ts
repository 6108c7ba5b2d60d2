// Rows of an app's `_files`: the metadata of each file. The bytes are in the blob store.
import { type CollectionDefinition, filesId } from '../definition.ts';
import { isUuid } from '../sql/ids.ts';
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { selectRows } from '../sql/rows.ts';
import type { Residue } from './filter/fold.ts';
import { recordAlias, whereSql } from './records/restriction.ts';
import { qualified } from './tables.ts';

/** One file. */
export interface FileRow {
  id: string;
  filename: string;
  mime: string;
  /** Bytes. */
  size: number;
  /** The end-user who uploaded it; null for an admin or a hook. */
  uploaded_by: string | null;
  created_at: Date;
}

const columns = 'id::text, filename, mime, size::float8 as size, uploaded_by::text, created_at';

function filesTable(schema: string): string {
  return qualified({ schema, collection: filesId });
}

/** Adds a file whose bytes are stored already. Throws `StorageError`. */
export async function insertFile(sql: Sql, schema: string, file: FileRow): Promise<void> {
  const { id, filename, mime, size, uploaded_by, created_at } = file;
  await sql.unsafe(
    `insert into ${filesTable(schema)} (id, filename, mime, size, uploaded_by, created_at)
     values ($1::uuid, $2, $3, $4::float8::bigint, $5::uuid, $6)`,
    [id, filename, mime, size, uploaded_by, created_at],
  );
}

/** A file by its id, or undefined. */
export async function findFile(sql: Sql, schema: string, id: string): Promise<FileRow | undefined> {
  const [row] = await sql.unsafe<FileRow[]>(
    `select ${columns} from ${filesTable(schema)} where id = $1::uuid`,
    [
      id,
    ],
  );
  return row;
}

/** The files with these ids, in no order. */
export async function findFiles(sql: Sql, schema: string, ids: readonly string[]): Promise<FileRow[]> {
  return await sql.unsafe<FileRow[]>(
    `select ${columns} from ${filesTable(schema)} where id = any($1::uuid[])`,
    [[...ids]],
  );
}

/** Files, newest first; with `uploadedBy`, those of one end-user. */
export async function selectFiles(
  sql: Sql,
  schema: string,
  { uploadedBy, page }: { uploadedBy: string | undefined; page: PageRequest },
): Promise<Page<FileRow>> {
  const ofUser = (id: string) => isUuid(id) ? sql`uploaded_by = ${id}::uuid` : sql`false`;
  const where = uploadedBy === undefined ? sql`true` : ofUser(uploadedBy);
  return await selectPage<FileRow>(sql, page, {
    columns: sql.unsafe(columns),
    from: sql`${sql.unsafe(filesTable(schema))} where ${where}`,
    order: sql`id desc`,
  });
}

/** Locks a file, so that no record begins to point to it until the transaction ends; false when there is none. */
export async function lockFile(sql: Sql, schema: string, id: string): Promise<boolean> {
  const found = await sql.unsafe(`select from ${filesTable(schema)} where id = $1::uuid for update`, [id]);
  return found.count > 0;
}

/** Locks files in the order of their ids likewise. */
export async function lockFiles(sql: Sql, schema: string, ids: readonly string[]): Promise<void> {
  const text = `select from ${filesTable(schema)} where id = any($1::uuid[]) order by id for update`;
  await sql.unsafe(text, [[...ids]]);
}

/** Removes a file. Throws `StorageError` `restricted` while a required field points to it. */
export async function deleteFile(sql: Sql, schema: string, id: string): Promise<void> {
  await sql.unsafe(`delete from ${filesTable(schema)} where id = $1::uuid`, [id]);
}

/** The ids among these that are files. */
export async function knownFiles(sql: Sql, schema: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `select id::text from ${filesTable(schema)} where id = any($1::uuid[])`,
    [[...ids]],
  );
  return new Set(rows.map(({ id }) => id));
}

/** The sizes and media types of files, by their ids. */
export async function describeFiles(
  sql: Sql,
  schema: string,
  ids: readonly string[],
): Promise<Map<string, { size: number; type: string }>> {
  const rows = await sql.unsafe<{ id: string; size: number; type: string }[]>(
    `select id::text, size::float8 as size, mime as type from ${
      filesTable(schema)
    } where id = any($1::uuid[])`,
    [[...ids]],
  );
  return new Map(rows.map(({ id, ...file }) => [id, file]));
}

/** A field that holds files, and the condition under which a record may be read for the file that it holds. */
export interface FileHolder {
  collection: Pick<CollectionDefinition, 'id' | 'version'>;
  field: string;
  isMany: boolean;
  residue: Residue;
}

/** The conditions under which a file may be read, of which one is enough. */
export interface FileReaders {
  /** The end-user who may read its uploads. */
  uploader: string | undefined;
  holders: readonly FileHolder[];
}

/** True when there is such a file, and it may be read. One id at a time, so that the statement is planned once. */
export async function isReadable(
  sql: Sql,
  schema: string,
  id: string,
  { uploader, holders }: FileReaders,
): Promise<boolean> {
  const params: (string | number)[] = [];
  const conditions = holders.map(({ collection, field, isMany, residue }) => {
    const where = whereSql([{ residue }], 3 + params.length);
    params.push(...where.params);
    const rest = where.text === '' ? '' : ` and ${where.text}`;
    // A new version has new statements, as those of records do (`records/plan.ts`).
    return `exists (/* ${collection.version} */ select ` +
      `from ${qualified({ schema, collection: collection.id })} as ${recordAlias} ` +
      `where ${recordAlias}.${quoteIdentifier(field)} ${isMany ? '@> array[file.id]' : '= file.id'}${rest})`;
  });
  const text = `select from ${filesTable(schema)} as file where file.id = $1::uuid ` +
    `and (${['file.uploaded_by = $2::uuid', ...conditions].join(' or ')})`;
  const rows = await selectRows(sql, { text, prepare: true }, [id, uploader ?? null, ...params]);
  return rows.length > 0;
}
