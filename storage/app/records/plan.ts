// The statements of one version of a collection, and how its rows become records. Made once, used by every request.
import { DerivedCache } from '../../connections/derived-cache.ts';
import type { CollectionDefinition, Field } from '../../definition.ts';
import { instantFromDatabase } from '../fields/datetime.ts';
import { kindOf } from '../fields/kinds.ts';
import { isUserField, usersId, usersView } from '../../workspace/identities.ts';
import { type ListShape, orderBy } from './list-order.ts';
import { constraintFields, planField, type PlannedField } from './planned-field.ts';
import { candidateOfParameters } from './candidate-row.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import type { RowWeight } from './row-budget.ts';
import { RecordRows } from './rows.ts';
import { recordAlias, type Where } from './restriction.ts';
import { differsSql } from './difference.ts';
import { newestSql, rankColumn, type SearchPlan, searchPlan } from '../search/record-search.ts';
import { setUpdatedAt } from './updated-at.ts';
import { snapshotColumn } from '../../sql/snapshot.ts';
import { type Statement, Statements } from '../../connections/statements.ts';
import { qualified } from '../tables.ts';

/** A record as responses show it. Every field is there, null when it is empty. */
export type StoredRecord = {
  id: string;
  collection: string;
  fields: Record<string, unknown>;
  /** RFC 3339, UTC, milliseconds. */
  created_at: string;
  updated_at: string;
};

/** The compiled form of one version of a collection. */
export class RecordPlan {
  readonly collection: string;
  /** The weight of rows in lists, of those that are read alone, and of groups. */
  readonly weights: Readonly<Record<'list' | 'get' | 'aggregate', RowWeight>> = {
    list: { bytes: 0 },
    get: { bytes: 0 },
    aggregate: { bytes: 0 },
  };
  /** The declared fields. A profile shows some of its user besides. */
  readonly fields: readonly PlannedField[];
  /** True when each record belongs to the user with its id. */
  readonly isProfile: boolean;
  /** Positions of all fields, which an insert writes. */
  readonly allPositions: readonly number[];
  readonly #insert: Statement;
  readonly #selectOne: Statement;
  /** Quoted name of the table. */
  readonly table: string;
  /** The same with the alias that restrictions use. */
  readonly #records: string;
  readonly #comment: string;
  /** The columns that `record` reads. */
  readonly columns: string;
  /** The columns of the table. */
  readonly rows: RecordRows;
  /** Quoted names of all columns that an insert writes. */
  /** The columns that are written, quoted: the id, the two times and all fields. */
  readonly written: string;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #inserts = new Statements(countText);
  readonly #checkedSelects = new Statements(countText);
  readonly #updates = new Statements(countText);
  readonly #removals = new Statements(countText);
  readonly #lists = new Statements(countText);
  readonly #filteredLists = new Statements(countText);
  readonly #counts = new Statements(countText);
  readonly #filteredCounts = new Statements(countText);
  readonly #aggregates = new Statements(countText);
  readonly #constraints: ReadonlyMap<string, readonly string[]>;
  /** Undefined when no field is searched. */
  readonly search: SearchPlan | undefined;

  constructor(schema: string, definition: CollectionDefinition) {
    const { id, kind, fields, version } = definition;
    this.collection = id;
    this.isProfile = kind === 'auth';
    this.fields = fields.map(planField);
    this.allPositions = fields.map((_, position) => position);
    this.table = qualified(id === usersId ? usersView : { schema, collection: id });
    this.#records = `${this.table} as ${quoteIdentifier(recordAlias)}`;
    // A new version has new statements: an old one, prepared, fails where a column came back with another type.
    this.#comment = `/* ${version} */ `;
    this.rows = new RecordRows(definition, recordAlias);
    this.columns = this.rows.columns;
    this.written = ['id', 'created_at', 'updated_at', ...fields.map(({ name }) => name)].map(quoteIdentifier)
      .join();
    this.#positions = new Map(fields.map(({ name }, position) => [name, position]));
    this.#constraints = constraintFields(definition);
    this.search = searchPlan(schema, definition);
    this.#insert = always(this.#comment + this.#insertText());
    this.#selectOne = always(
      `${this.#comment}select ${this.columns} from ${this.#records} where "id" = $1::uuid`,
    );
  }

  /** The position of a field in `fields`; undefined when the collection lacks it. */
  fieldPosition(name: string): number | undefined {
    return this.#positions.get(name);
  }

  /** True when responses can show, and lists can be sorted by, a field of this name. */
  hasField(name: string): boolean {
    return this.#positions.has(name) || this.isProfile && isUserField(name);
  }

  /** The fields that a constraint or a unique index is on; none for the primary key and anything else. */
  constraintFields(constraint: string | undefined): readonly string[] {
    return constraint === undefined ? [] : this.#constraints.get(constraint) ?? [];
  }

  /** Inserts a record: `$1` id, `$2` the time, then all values. A condition is tested on the record as it would be stored. */
  insert(where: string): Statement {
    return where === ''
      ? this.#insert
      : this.#inserts.of(where, () => this.#comment + this.#candidateText(where));
  }

  /** Selects one record by its id, `$1`. With a condition, a last column says whether it is true of the record. */
  selectOne(where: string): Statement {
    return where === '' ? this.#selectOne : this.#checkedSelects.of(
      where,
      () =>
        `${this.#comment}select ${this.columns}, (${where}) is true from ${this.#records} where "id" = $1::uuid`,
    );
  }

  /** Deletes a record by its id, `$1`. */
  remove(where: string): Statement {
    return this.#removals.of(where, () => {
      const condition = where === '' ? '' : ` and ${where}`;
      return `${this.#comment}delete from ${this.#records} where "id" = $1::uuid${condition} ` +
        `returning ${this.columns}`;
    });
  }

  /**
   * Counts the records that a condition is true of, or all. The second column is the snapshot that the statement saw.
   */
  count(where: string, isAdHoc: boolean, isRanked = false): Statement {
    const condition = where === '' ? '' : ` where ${where}`;
    const from = isRanked ? newestSql(this.#records, where) : `${this.#records}${condition}`;
    return (isAdHoc ? this.#filteredCounts : this.#counts).of(
      from,
      () => `${this.#comment}select count(*)::double precision, ${snapshotColumn} from ${from}`,
    );
  }

  /** A statement about groups of records, by its text. */
  aggregate(text: string): Statement {
    return this.#aggregates.of(text, () => this.#comment + text);
  }

  /**
   * Updates the fields at these positions: `$1` id, `$2` updated_at, then their values. A record that has all of these
   * values is left as it is.
   */
  update(positions: readonly number[], where: string): Statement {
    return this.#updates.of(`${positions.join()} ${where}`, () => {
      const changes = positions.map((position, index) => {
        const field = this.#field(position);
        return `, ${quoteIdentifier(field.name)} = $${index + 3}${kindOf(field).cast}`;
      });
      const condition = where === '' ? '' : ` and ${where}`;
      return `${this.#comment}update ${this.#records} set ${setUpdatedAt}${changes.join('')} ` +
        `where "id" = $1::uuid and ${differsSql(this.fields, positions, 3)}${condition} ` +
        `returning ${this.columns}`;
    });
  }

  /**
   * Selects a page of records: the parameters of the condition, then limit and offset. The keys name existing columns.
   * Ad-hoc conditions are cached apart, so that they do not evict the others. With a rank, that is the last column.
   */
  list({ sort, withSnapshot, ranked }: ListShape, where: Where, isAdHoc: boolean): Statement {
    const order = orderBy(
      sort,
      (column) => column === rankColumn && ranked !== undefined ? ranked.rank : this.rows.expression(column),
    );
    const from = ranked === undefined ? this.#records : newestSql(this.#records, ranked.candidates);
    const condition = where.text === '' ? '' : ` where ${where.text}`;
    const limit = where.params.length + 1;
    const last = withSnapshot ? `, ${snapshotColumn}` : ranked === undefined ? '' : `, ${ranked.rank}`;
    const columns = this.columns + last;
    return (isAdHoc ? this.#filteredLists : this.#lists).of(
      `${withSnapshot ? '+' : ''}${from}${order}${condition}`,
      () =>
        // In a subselect, so that only the instants of the page become texts, not those of all rows that are sorted for
        // it.
        `${this.#comment}select ${columns} from (select * from ${from}${condition} ` +
        `order by ${order} limit $${limit}::bigint offset $${limit + 1}::bigint) ` +
        `as ${quoteIdentifier(recordAlias)} order by ${order}`,
    );
  }

  /** Reads a selected row as a record. */
  record(row: readonly unknown[]): StoredRecord {
    return {
      id: String(row[0]),
      collection: this.collection,
      fields: this.rows.readFields(row),
      created_at: instantFromDatabase(row[1]),
      updated_at: instantFromDatabase(row[2]),
    };
  }

  #field(position: number): Field {
    const planned = this.fields[position];
    if (planned === undefined) throw new RangeError('no such field');
    return planned.field;
  }

  #insertText(): string {
    const values = this.fields.map(({ field }, index) => `, $${index + 3}${kindOf(field).cast}`).join('');
    return `${this.#insertHead()} ` +
      `values ($1::uuid, $2::text::timestamptz, $2::text::timestamptz${values}) returning ${this.columns}`;
  }

  #candidateText(where: string): string {
    return `${this.#insertHead()} select ${this.written} from ${
      candidateOfParameters(this.fields)
    } where ${where} ` +
      `returning ${this.columns}`;
  }

  #insertHead(): string {
    return `insert into ${this.#records} (${this.written})`;
  }
}

/** The budget of all statement texts, in characters. Callers can cause any number of statements. */
const maxTextLength = 16 * 1_048_576;
const plans = new DerivedCache<CollectionDefinition, RecordPlan>(maxTextLength);

function countText(characters: number): void {
  plans.grow(characters);
}

/** The plan of a definition: a pure function of it, cached as long as the definition is in use. */
export function planFor(schema: string, collection: CollectionDefinition): RecordPlan {
  return plans.of(collection, () => new RecordPlan(schema, collection));
}

function always(text: string): Statement {
  return { text, prepare: true };
}
