// Renaming fields: the columns, and the constraints and indexes that are named after them. The values stay untouched.
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { numberingOf } from '../fields/autonumber.ts';
import { qualified, type TableName } from '../tables.ts';
import { renameNumbering } from './autonumber.ts';
import type { Attached } from './attached.ts';
import { attachments, type TableDefinition } from './attachments.ts';

/** New names by the names of before. No new name is that of another field. */
export type Renames = ReadonlyMap<string, string>;

/** The definition with new names. */
export function withNewNames(
  { fields, indexes, search }: TableDefinition,
  renames: Renames,
): TableDefinition {
  const current = (name: string) => renames.get(name) ?? name;
  return {
    fields: fields.map((field) => {
      const within = numberingOf(field)?.within;
      const numbering = within === undefined ? {} : { autonumber: { within: current(within) } };
      return { ...field, name: current(field.name), ...numbering };
    }),
    indexes: indexes.map((index) => ({ ...index, fields: index.fields.map(current) })),
    search,
  };
}

/** Renames columns. Throws `StorageError`. */
export async function renameColumns(
  sql: Sql,
  table: TableName,
  { before, renames }: { before: TableDefinition; renames: Renames },
): Promise<void> {
  const name = qualified(table);
  const columns = [...renames].map(([from, to]) =>
    `alter table ${name} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to)}`
  );
  const after = attachments(table, withNewNames(before, renames));
  const pairs = attachments(table, before).map((old, index) => ({ old, next: after[index] ?? old }));
  // What cannot be renamed is made again.
  const changed = pairs.filter(({ old, next }) => old.kind === undefined && old.add !== next.add);
  const anew = changed.filter(({ next }) => next.follow === undefined);
  const statements = [
    ...anew.map(({ old }) => old.remove).reverse(),
    ...columns,
    ...pairs.flatMap(({ old, next }) => renamed(table, old, next.name)),
    ...anew.map(({ next }) => next.add),
    ...changed.flatMap(({ next }) => next.follow ?? []),
    ...renameNumbering(table, before.fields, renames),
  ];
  if (statements.length > 0) await sql.unsafe(statements.join('; '));
}

function renamed(table: TableName, { kind, name }: Attached, to: string): string[] {
  if (kind === undefined || name === to) return [];
  const attached = kind === 'constraint'
    ? `table ${qualified(table)} rename constraint ${quoteIdentifier(name)}`
    : `index ${quoteIdentifier(table.schema)}.${quoteIdentifier(name)} rename`;
  return [`alter ${attached} to ${quoteIdentifier(to)}`];
}
