// Renaming fields: the columns, and the constraints and indexes that are named after them. The values stay untouched.
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { qualified, type TableName } from '../tables.ts';
import { attachments, type TableDefinition } from './attachments.ts';

/** New names by the names of before. No new name is that of another field. */
export type Renames = ReadonlyMap<string, string>;

/** The definition with new names. */
export function withNewNames({ fields, indexes }: TableDefinition, renames: Renames): TableDefinition {
  const current = (name: string) => renames.get(name) ?? name;
  return {
    fields: fields.map((field) => ({ ...field, name: current(field.name) })),
    indexes: indexes.map((index) => ({ ...index, fields: index.fields.map(current) })),
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
  const attached = attachments(table, before).flatMap((old, index) => {
    const next = after[index]?.name ?? old.name;
    if (next === old.name) return [];
    return old.isConstraint
      ? [`alter table ${name} rename constraint ${quoteIdentifier(old.name)} to ${quoteIdentifier(next)}`]
      : [
        `alter index ${quoteIdentifier(table.schema)}.${quoteIdentifier(old.name)} rename to ${
          quoteIdentifier(next)
        }`,
      ];
  });
  const statements = [...columns, ...attached];
  if (statements.length > 0) await sql.unsafe(statements.join('; '));
}
