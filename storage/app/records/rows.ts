// The columns that are selected of a row, and how they become the fields of a record.
import type { CollectionDefinition, FieldKind } from '../../definition.ts';
import type { Kind } from '../fields/kind.ts';
import { type FieldShape, kindOf, selectCast } from '../fields/kinds.ts';
import {
  isUserField,
  readUserFields,
  selectUserFields,
  shownFields,
  userExpression,
  usersId,
} from '../../workspace/identities.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import type { ColumnSql } from './list-order.ts';

/** The columns before the fields. */
const ownColumns: readonly { name: string; kind: FieldKind }[] = [
  { name: 'id', kind: 'relation' },
  { name: 'created_at', kind: 'datetime' },
  { name: 'updated_at', kind: 'datetime' },
];

/** The rows of one version of a collection. */
export class RecordRows {
  /** The columns for `readFields`: id, created_at, updated_at, then the fields. The alias must be that of the table. */
  readonly columns: string;
  readonly #alias: string;
  /** True when the rows belong to users, and show fields of theirs. */
  readonly #isProfile: boolean;
  readonly #fields: ReadonlyMap<string, FieldShape>;
  /** Follows a column of instants: tables of collections hold milliseconds, that of the users microseconds. */
  readonly #rounding: string;
  readonly #names: readonly string[];
  readonly #converters: readonly Kind['fromDatabase'][];

  constructor({ id, kind, fields }: CollectionDefinition, alias: string) {
    this.#alias = alias;
    this.#isProfile = kind === 'auth';
    this.#names = fields.map(({ name }) => name);
    const shown = this.#isProfile ? [...fields, ...shownFields] : fields;
    this.#fields = new Map([...ownColumns, ...shown].map((field) => [field.name, field]));
    this.#converters = fields.map((field) => kindOf(field).fromDatabase);
    this.#rounding = id === usersId ? '::timestamptz(3)' : '';
    this.columns = [
      `"id", "created_at"${this.#rounding}::text, "updated_at"${this.#rounding}::text`,
      ...fields.map((field) => {
        const column = quoteIdentifier(field.name);
        return id === usersId ? selectCast(column, field.kind) : column + kindOf(field).output;
      }),
      ...(this.#isProfile ? [selectUserFields(alias)] : []),
    ].join(', ');
  }

  /** The kind of a field or of one of the columns before them; undefined for any other name. */
  kindOf(column: string): FieldKind | undefined {
    return this.#fields.get(column)?.kind;
  }

  /** True for a field that holds many values: lists cannot be sorted by it. */
  isMany(column: string): boolean {
    return this.#fields.get(column)?.many === true;
  }

  /** The value of such a field as responses show it, qualified: a bare name would be the selected text of an instant. */
  expression(column: string): string {
    if (this.#isProfile && isUserField(column)) return userExpression(column, this.#alias);
    const rounding = this.kindOf(column) === 'datetime' ? this.#rounding : '';
    return `${this.#alias}.${quoteIdentifier(column)}${rounding}`;
  }

  /** For the position in a list (`list-order.ts`). */
  readonly columnSql = (column: string): ReturnType<ColumnSql> => ({
    expression: this.expression(column),
    cast: kindOf(this.#fields.get(column) ?? { kind: 'text' }).cast,
    isNullable: !ownColumns.some(({ name }) => name === column),
  });

  /** The fields of a selected row. */
  readFields(row: readonly unknown[]): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    if (this.#isProfile) readUserFields(row[ownColumns.length + this.#names.length], fields);
    let column = ownColumns.length;
    for (const name of this.#names) {
      const value = row[column];
      const convert = this.#converters[column - ownColumns.length];
      fields[name] = convert === undefined || value === null ? value : convert(value);
      column++;
    }
    return fields;
  }
}
