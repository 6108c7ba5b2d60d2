// The columns of fields, as statements.
import type { Field } from '../../definition.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { kindOf } from '../fields/kinds.ts';
import { noItems } from '../fields/many.ts';
import { qualified, type TableName } from '../tables.ts';
import type { BuildAhead } from './attached.ts';
import { defaultLiteral } from './fill.ts';

/** The column of a field in a statement that makes it. */
export function columnDefinition(field: Field): string {
  return `${quoteIdentifier(field.name)} ${kindOf(field).column}${field.many === true ? ' not null' : ''}`;
}

/** A new column. PostgreSQL fills in a default without writing each record: it keeps the value with the column. */
export function addColumn(table: TableName, field: Field, isFilled: boolean): string[] {
  const initial = initialValue(field, isFilled);
  const added = `alter table ${qualified(table)} add column ${columnDefinition(field)}`;
  return initial === undefined ? [added] : [`${added} default ${initial}`, dropDefault(table, field)];
}

/** The name of a new column among what is made ahead of a change. */
export function newColumnName({ name }: Pick<Field, 'name'>): string {
  return `column ${name}`;
}

/** A new column that is there before its field is. Records that are created meanwhile have its first value, too. */
export function newColumnAhead(table: TableName, field: Field, isFilled: boolean): BuildAhead {
  const initial = initialValue(field, isFilled);
  const withDefault = initial === undefined ? '' : ` default ${initial}`;
  return {
    columns: [],
    prepare: `alter table ${qualified(table)} add column ${columnDefinition(field)}${withDefault}`,
    steps: [],
    adopt: initial === undefined ? '' : dropDefault(table, field),
    undo: { run: 'quick', text: dropColumn(table, field.name) },
  };
}

/** Removes a column, if it is there. */
export function dropColumn(table: TableName, name: string): string {
  return `alter table ${qualified(table)} drop column if exists ${quoteIdentifier(name)}`;
}

function initialValue(field: Field, isFilled: boolean): string | undefined {
  return (isFilled ? defaultLiteral(field) : undefined) ?? (field.many === true ? `'${noItems}'` : undefined);
}

function dropDefault(table: TableName, { name }: Field): string {
  return `alter table ${qualified(table)} alter column ${quoteIdentifier(name)} drop default`;
}
