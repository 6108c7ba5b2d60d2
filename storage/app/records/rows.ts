// The columns that are selected of a row, and how they become the fields of a record.
import type { CollectionDefinition } from '../../definition.ts';
import type { Kind } from '../fields/kind.ts';
import { kinds, selectCast } from '../fields/kinds.ts';
import {
  isUserField,
  readUserFields,
  selectUserFields,
  usersId,
  userSortExpression,
} from '../../workspace/identities.ts';
import { quoteIdentifier } from '../../sql/quote.ts';

/** The number of columns before the fields: id, created_at, updated_at. */
const ownColumns = 3;

/** The rows of one version of a collection. */
export class RecordRows {
  /** The columns for `readFields`: id, created_at, updated_at, then the fields. The alias must be that of the table. */
  readonly columns: string;
  readonly #alias: string;
  /** True when the rows belong to users, and show fields of theirs. */
  readonly #isProfile: boolean;
  readonly #names: readonly string[];
  readonly #converters: readonly Kind['fromDatabase'][];

  constructor({ id, kind, fields }: CollectionDefinition, alias: string) {
    this.#alias = alias;
    this.#isProfile = kind === 'auth';
    this.#names = fields.map(({ name }) => name);
    this.#converters = fields.map(({ kind }) => kinds[kind].fromDatabase);
    // Tables of collections hold milliseconds, that of the users microseconds.
    const rounded = id === usersId ? '::timestamptz(3)' : '';
    this.columns = [
      `"id", "created_at"${rounded}::text, "updated_at"${rounded}::text`,
      ...fields.map(({ name, kind }) => {
        const column = quoteIdentifier(name);
        return id === usersId ? selectCast(column, kind) : column + kinds[kind].output;
      }),
      ...(this.#isProfile ? [selectUserFields(alias)] : []),
    ].join(', ');
  }

  /** A column to sort by, qualified: a bare name would be the selected text of an instant. */
  sortExpression(column: string): string {
    return this.#isProfile && isUserField(column)
      ? userSortExpression(column, this.#alias)
      : `${this.#alias}.${quoteIdentifier(column)}`;
  }

  /** The fields of a selected row. */
  readFields(row: readonly unknown[]): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    if (this.#isProfile) readUserFields(row[ownColumns + this.#names.length], fields);
    let column = ownColumns;
    for (const name of this.#names) {
      const value = row[column];
      const convert = this.#converters[column - ownColumns];
      fields[name] = convert === undefined || value === null ? value : convert(value);
      column++;
    }
    return fields;
  }
}
