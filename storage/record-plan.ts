// The statements of one version of a collection, and how its rows become records: made once, used by every request.
import type { CollectionDefinition, Field } from './definition.ts';
import { instantFromDatabase } from './fields/datetime.ts';
import type { Kind, Reader, Stored } from './fields/kind.ts';
import { kinds } from './fields/kinds.ts';
import { quoteIdentifier } from './quote.ts';
import { attachmentName, qualified } from './tables.ts';

/** A record as responses show it. Every field is there, null when it is empty. */
export interface StoredRecord {
  id: string;
  collection: string;
  fields: Record<string, unknown>;
  /** RFC 3339, UTC, milliseconds. */
  created_at: string;
  updated_at: string;
}

/** A field with everything that does not depend on the request. */
export interface PlannedField {
  field: Field;
  read: Reader;
  /** What a create stores when the field is left out; null without a default. */
  fallback: Stored | null;
}

/** A column to sort by. */
export interface SortKey {
  column: string;
  descending: boolean;
}

/** A statement's text, and whether it is one of the few that are worth preparing. */
export interface Statement {
  text: string;
  prepare: boolean;
}

/** Texts that a plan prepares of each sort; a caller can make up any number of them, and a server holds each. */
const preparedShapes = 64;

/** Columns of every table besides its fields, and the order in which they are selected: id, created, updated. */
const ownColumns = 3;

/** The compiled form of one version of a collection. */
export class RecordPlan {
  readonly collection: string;
  readonly fields: readonly PlannedField[];
  readonly insert: string;
  readonly selectOne: string;
  readonly remove: string;
  readonly count: string;
  readonly #table: string;
  readonly #comment: string;
  readonly #columns: string;
  readonly #names: readonly string[];
  readonly #positions: ReadonlyMap<string, number>;
  readonly #converters: readonly Kind['fromDatabase'][];
  readonly #updates = new Map<string, string>();
  readonly #lists = new Map<string, string>();
  readonly #constraints: ReadonlyMap<string, string>;

  constructor(schema: string, { id, fields, version }: CollectionDefinition) {
    this.collection = id;
    this.fields = fields.map(planField);
    this.#table = qualified({ schema, collection: id });
    // A new version is a new statement: the old one, prepared, fails where a column came back as another type.
    this.#comment = `/* ${version} */ `;
    this.#columns = [
      '"id", "created_at"::text, "updated_at"::text',
      ...fields.map(({ name, kind }) => quoteIdentifier(name) + kinds[kind].output),
    ].join(', ');
    this.#names = fields.map(({ name }) => name);
    this.#positions = new Map(fields.map(({ name }, position) => [name, position]));
    this.#converters = fields.map(({ kind }) => kinds[kind].fromDatabase);
    this.#constraints = constraintsOf(id, fields);
    this.insert = this.#comment + this.#insertText(fields);
    this.selectOne = `${this.#comment}select ${this.#columns} from ${this.#table} where "id" = $1::uuid`;
    this.remove = `${this.#comment}delete from ${this.#table} where "id" = $1::uuid`;
    this.count = `${this.#comment}select count(*)::double precision from ${this.#table}`;
  }

  /** Where a field stands in `fields`; undefined when the collection lacks it. */
  positionOf(name: string): number | undefined {
    return this.#positions.get(name);
  }

  /** The field whose unique or reference constraint this is; undefined for the primary key and anything else. */
  fieldOfConstraint(constraint: string | undefined): string | undefined {
    return constraint === undefined ? undefined : this.#constraints.get(constraint);
  }

  /** Updates the fields at these positions: `$1` id, `$2` updated_at, then their values. */
  update(positions: readonly number[]): Statement {
    return remember(this.#updates, positions.join(), () => {
      const changes = positions.map((position, index) => {
        const { name, kind } = this.#field(position);
        return `, ${quoteIdentifier(name)} = $${index + 3}${kinds[kind].cast}`;
      });
      return `${this.#comment}update ${this.#table} set "updated_at" = $2::text::timestamptz${
        changes.join('')
      } ` +
        `where "id" = $1::uuid returning ${this.#columns}`;
    });
  }

  /** A page of records: `$1` how many, `$2` how many to skip. The keys name columns that exist. */
  list(sort: readonly SortKey[]): Statement {
    // Qualified: a bare name would be the selected text of an instant, which no index is made for.
    const order = [...sort, { column: 'id', descending: false }]
      .map(({ column, descending }) => `r.${quoteIdentifier(column)}${descending ? ' desc' : ''}`)
      .join(', ');
    return remember(
      this.#lists,
      order,
      () =>
        `${this.#comment}select ${this.#columns} from ${this.#table} as r ` +
        `order by ${order} limit $1::bigint offset $2::bigint`,
    );
  }

  /** A selected row as a record. */
  record(row: readonly unknown[]): StoredRecord {
    const fields: Record<string, unknown> = {};
    let column = ownColumns;
    for (const name of this.#names) {
      const value = row[column];
      const convert = this.#converters[column - ownColumns];
      fields[name] = convert === undefined || value === null ? value : convert(value);
      column++;
    }
    return {
      id: String(row[0]),
      collection: this.collection,
      fields,
      created_at: instantFromDatabase(row[1]),
      updated_at: instantFromDatabase(row[2]),
    };
  }

  #field(position: number): Field {
    const planned = this.fields[position];
    if (planned === undefined) throw new RangeError('no such field');
    return planned.field;
  }

  #insertText(fields: readonly Field[]): string {
    const names = fields.map(({ name }) => `, ${quoteIdentifier(name)}`).join('');
    const values = fields.map(({ kind }, index) => `, $${index + 3}${kinds[kind].cast}`).join('');
    return `insert into ${this.#table} ("id", "created_at", "updated_at"${names}) ` +
      `values ($1::uuid, $2::text::timestamptz, $2::text::timestamptz${values}) returning ${this.#columns}`;
  }
}

const plans = new WeakMap<CollectionDefinition, RecordPlan>();

/** The plan of a definition: a pure function of it, remembered as long as the definition is in use. */
export function planOf(schema: string, collection: CollectionDefinition): RecordPlan {
  const known = plans.get(collection);
  if (known !== undefined) return known;
  const plan = new RecordPlan(schema, collection);
  plans.set(collection, plan);
  return plan;
}

function planField(field: Field): PlannedField {
  const read = kinds[field.kind].reader(field);
  // The declaration was refused if its default could not be read.
  const reading = field.default === undefined || field.default === null ? undefined : read(field.default);
  return { field, read, fallback: reading !== undefined && 'value' in reading ? reading.value : null };
}

function constraintsOf(collection: string, fields: readonly Field[]): ReadonlyMap<string, string> {
  const constraints = new Map<string, string>();
  for (const { name } of fields) {
    constraints.set(attachmentName('unique', collection, name), name);
    constraints.set(attachmentName('reference', collection, name), name);
  }
  return constraints;
}

function remember(texts: Map<string, string>, shape: string, build: () => string): Statement {
  const known = texts.get(shape);
  if (known !== undefined) return { text: known, prepare: true };
  const text = build();
  const prepare = texts.size < preparedShapes;
  if (prepare) texts.set(shape, text);
  return { text, prepare };
}
