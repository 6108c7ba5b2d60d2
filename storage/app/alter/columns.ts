// The columns of fields, as statements.
import type { Field } from '../../definition.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { kindOf } from '../fields/kinds.ts';
import { noItems } from '../fields/many.ts';
import { qualified, type TableName } from '../tables.ts';
import type { BuildAhead } from './attached.ts';
import { defaultLiteral } from './fill.ts';

/** The column of a field that holds many: requests of before there was the field do not write it. */
const columnOfMany = `not null default '${noItems}'`;

/** The column of a field in a statement that makes it. */
export function columnDefinition(field: Field): string {
  return [columnType(field), ...field.many === true ? [columnOfMany] : []].join(' ');
}

function columnType(field: Field): string {
  return `${quoteIdentifier(field.name)} ${kindOf(field).column}`;
}

/** A new column. PostgreSQL fills in a default without writing each record: it keeps the value with the column. */
export function addColumn(table: TableName, field: Field, isFilled: boolean): string[] {
  const { prepare, adopt } = newColumnAhead(table, field, isFilled);
  return [prepare, adopt];
}

/** The name of a new column among what is made ahead of a change. */
export function newColumnName({ name }: Pick<Field, 'name'>): string {
  return `column ${name}`;
}

/** A new column that is there before its field is. Records that are created meanwhile have its first value, too. */
export function newColumnAhead(table: TableName, field: Field, isFilled: boolean): BuildAhead {
  const initial = isFilled ? defaultLiteral(field) : undefined;
  const column = initial === undefined
    ? columnDefinition(field)
    : `${columnType(field)} ${field.many === true ? 'not null ' : ''}default ${initial}`;
  const altered = `alter table ${qualified(table)} alter column ${quoteIdentifier(field.name)}`;
  const later = field.many === true ? `set default '${noItems}'` : 'drop default';
  return {
    columns: [],
    prepare: `alter table ${qualified(table)} add column ${column}`,
    steps: [],
    adopt: initial === undefined ? '' : `${altered} ${later}`,
    undo: { run: 'quick', text: dropColumn(table, field.name) },
  };
}

/** Removes a column, if it is there. */
export function dropColumn(table: TableName, name: string): string {
  return `alter table ${qualified(table)} drop column if exists ${quoteIdentifier(name)}`;
}
