// Making what a change of a large table needs while its records are written: new columns, numbers, searches and indexes.
import type { Connection, Sql } from '../../connections/pool.ts';
import type { Field } from '../../definition.ts';
import { StorageError } from '../../errors.ts';
import { qualified, type TableName } from '../tables.ts';
import type { BuildAhead, BuildStep } from './attached.ts';
import { attachments, type TableDefinition } from './attachments.ts';
import { newColumnAhead, newColumnName } from './columns.ts';
import type { Renames } from './rename.ts';

/** Below this size, in bytes, all is made within the change: writers wait for some tenths of a second. */
const maxBlockingBytes = 8 * 1_048_576;
/** Writers wait behind whoever waits for the lock of a whole table. */
const lockTimeout = '1s';
const maxTries = 60;

/** A change of a table, as far as its columns and attachments go. */
export interface PlannedTableChange {
  before: TableDefinition;
  /** `before` with the new names of fields. */
  renamed: TableDefinition;
  renames: Renames;
  after: TableDefinition;
  /** The names of new fields whose defaults the records get. */
  filled: ReadonlySet<string>;
}

/** What is made ahead of a change, by its names, in the order in which it is made. */
export type Builds = ReadonlyMap<string, BuildAhead>;

/**
 * What a change adds, as far as it can be made ahead: it must not read a column that another field has, or that changes, until
 * the change is made.
 */
export function buildsAhead(table: TableName, change: PlannedTableChange): Builds {
  const { before, renamed, renames, after, filled } = change;
  const moved = new Set([...renames].flat());
  // A field that holds many from now on has another column.
  const isMany = new Map(after.fields.map(({ name, many = false }) => [name, many]));
  const kept = before.fields.filter(({ name, many = false }) =>
    isMany.get(name) === many && !moved.has(name)
  );
  const known = new Set([...before.fields, ...renamed.fields].map(({ name }) => name));
  const added = new Map(
    after.fields.filter(({ name }) => !known.has(name)).map((field) => [field.name, field]),
  );
  const columns = new Set([
    'id',
    'created_at',
    'updated_at',
    ...kept.map(({ name }) => name),
    ...added.keys(),
  ]);
  const old = attachments(table, renamed);
  const [names, texts] = [old.map(({ name }) => name), old.map(({ add }) => add)].map((all) => new Set(all));
  const wanted = attachments(table, after).flatMap(({ name, add, ahead }) => {
    if (ahead === undefined || texts?.has(add) === true) return [];
    const isFree = ahead.replaces === true || names?.has(name) !== true;
    const isOfNew = ahead.ofNew === undefined || added.has(ahead.ofNew);
    return isFree && isOfNew && ahead.columns.every((column) => columns.has(column)) ? [{ name, ahead }] : [];
  });
  const needed = new Set(wanted.flatMap(({ ahead }) => ahead.columns));
  const newColumns = [...added.values()].filter(({ name }) => needed.has(name));
  return new Map([
    ...newColumns.map((field) => columnBuild(table, field, filled)),
    // Indexes last: over columns that are filled, and of records that have moved.
    ...wanted.toSorted((one, other) => rank(one.ahead) - rank(other.ahead)).map(({ name, ahead }) =>
      [name, ahead] as const
    ),
  ]);
}

function rank({ prepare }: BuildAhead): number {
  return prepare === '' ? 1 : 0;
}

function columnBuild(
  table: TableName,
  field: Field,
  filled: ReadonlySet<string>,
): readonly [string, BuildAhead] {
  return [newColumnName(field), newColumnAhead(table, field, filled.has(field.name))];
}

/** True for a table whose records cannot be written for too long while an index is built within a change. */
export async function isLarge(sql: Sql, table: TableName): Promise<boolean> {
  const [row] = await sql<{ bytes: number }[]>`
    select pg_table_size(to_regclass(${qualified(table)}))::float8 as bytes`;
  return (row?.bytes ?? 0) > maxBlockingBytes;
}

/**
 * Makes everything, outside a transaction. If something fails, nothing is left. `retry` runs work again that a deadlock has
 * ended. Throws `StorageError`: `conflict` for a unique index with duplicates.
 */
export async function buildAhead(
  connection: Connection,
  builds: Builds,
  retry: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<void> {
  // What a process that was killed has left under these names.
  await undoBuilds(connection, builds);
  try {
    const all = [...builds.values()];
    const prepare = all.map((build) => build.prepare).filter((text) => text !== '');
    if (prepare.length > 0) await runStep(connection, { run: 'quick', text: prepare.join('; ') }, retry);
    for (const step of all.flatMap(({ steps }) => steps)) await runStep(connection, step, retry);
  } catch (error) {
    await dropBuilt(connection, builds);
    throw error;
  }
}

/** Removes what was made for a change that has failed. If that fails too, the next change of the collection does it. */
export async function dropBuilt(connection: Connection, builds: Builds): Promise<void> {
  await Promise.allSettled([undoBuilds(connection, builds)]);
}

async function undoBuilds(connection: Connection, builds: Builds): Promise<void> {
  const steps = [...builds.values()].map(({ undo }) => undo).reverse();
  for (const step of steps.filter(({ run }) => run === 'alone')) await runStep(connection, step);
  const quick = steps.filter(({ run }) => run === 'quick').map(({ text }) => text);
  if (quick.length > 0) await runStep(connection, { run: 'quick', text: quick.join('; ') });
}

async function runStep(
  connection: Connection,
  { run, text, from = '' }: BuildStep,
  retry: <Result>(work: () => Promise<Result>) => Promise<Result> = (work) => work(),
): Promise<void> {
  if (run === 'quick') await runQuickly(connection, text, retry);
  else if (run === 'alone') await connection.run((sql) => sql.unsafe(text));
  else {
    for (let next: string | null = from; next !== null;) {
      const at: string = next;
      next = await retry(() =>
        connection.transaction(async (sql) => {
          const [row] = await sql.unsafe<{ next: string | null }[]>(text, [at]);
          return row?.next ?? null;
        })
      );
    }
  }
}

/** Tries for the lock of the table again and again, and lets writers go on between. */
async function runQuickly(
  connection: Connection,
  text: string,
  retry: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      await retry(() =>
        connection.transaction(async (sql) => {
          await sql.unsafe(`set local lock_timeout = '${lockTimeout}'; ${text}`);
        })
      );
      return;
    } catch (error) {
      if (!(error instanceof StorageError && error.failure === 'timeout') || tries === maxTries) throw error;
    }
  }
}
