// Real tables, written as the server writes them, and a filter decided on them in both meanings.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AppDefinition, CollectionDefinition, Field } from '../../../../storage/definition.ts';
import { asksForMany, type Condition } from '../../../../storage/app/filter/condition.ts';
import type { FilterRecord } from '../../../../storage/app/filter/column-value.ts';
import { compilePredicate, type FilterSubject } from '../../../../storage/app/filter/evaluate.ts';
import { fold, type Residue } from '../../../../storage/app/filter/fold.ts';
import { parse } from '../../../../storage/app/filter/parse/parse.ts';
import type { RequestValues } from '../../../../storage/app/filter/request.ts';
import { resolve } from '../../../../storage/app/filter/resolve.ts';
import { type FilterScope, filterScope } from '../../../../storage/app/filter/source.ts';
import { type SqlPosition, toSql } from '../../../../storage/app/filter/sql/to-sql.ts';
import type { Pool } from '../../../../storage/connections/pool.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { selectPassing } from '../../../../storage/app/records/passing.ts';
import { planFor, type StoredRecord } from '../../../../storage/app/records/plan.ts';
import { insertRecord } from '../../../../storage/app/records/records.ts';
import { createTable } from '../../../../storage/app/alter/table.ts';
import { attachmentName, qualified } from '../../../../storage/app/tables.ts';
import { collections } from './collections.ts';
import { profiles } from './profiles.ts';
import { openPool, usersTable } from './users-table.ts';

const schema = 'filtered app';
const written = new Date('2026-01-02T03:04:05.678Z');

/** The app that the collections belong to. */
export function appOf(declared: Readonly<Record<string, readonly Field[]>> = collections): AppDefinition {
  const times = { created_at: written, updated_at: written };
  const definitions = Object.entries(declared).map(([id, fields]): [string, CollectionDefinition] => [
    id,
    { id, kind: id in profiles ? 'auth' : 'base', fields, indexes: [], version: 1, rules: {}, ...times },
  ]);
  const workspace = { id: 'w', name: 'W', database: 'w_0', ...times };
  return { workspace, id: 'a', name: 'A', schema, collections: new Map(definitions), ...times };
}

/** The scope of one of its collections. */
export function scopeIn(app: AppDefinition, id = 'posts'): FilterScope {
  const collection = app.collections.get(id);
  if (collection === undefined) throw new Error(`no collection ${id}`);
  return filterScope(app, collection);
}

/** A filter on `posts`, resolved but not yet decided. */
export function conditionOf(filter: string, scope: FilterScope = scopeIn(appOf())): Condition {
  return resolve(parse(filter), scope);
}

/** A GET of an anonymous caller, but for what is given. */
export function requestOf(values: Partial<RequestValues> = {}): RequestValues {
  return {
    now: Date.parse('2026-06-01T00:00:00Z'),
    auth: null,
    body: {},
    method: 'GET',
    query: {},
    ...values,
  };
}

/** What a filter selects, as sorted `key`s; both meanings should agree. */
export interface Selection {
  sql: string[];
  memory: string[];
}

/** Fields of a record; relations by the id that `insert` returned. */
export type Fields = Readonly<Record<string, unknown>>;

/** A database with the tables of an app in it. */
export class FilteredTables {
  readonly app: AppDefinition;
  readonly pool: Pool;
  readonly #records = new Map<string, Map<string, FilterRecord>>();

  constructor(app: AppDefinition, pool: Pool) {
    this.app = app;
    this.pool = pool;
  }

  /** Stores a record as the server does and returns its id. */
  async insert(collection: string, fields: Fields, id: string = randomUUID()): Promise<string> {
    const definition = this.app.collections.get(collection);
    if (definition === undefined) throw new Error(`no collection ${collection}`);
    const plan = planFor(schema, definition);
    const values = plan.fields.map(({ field, read, empty }) => {
      const value = fields[field.name] ?? null;
      if (value === null) return empty;
      const reading = read(value);
      if ('reason' in reading) throw new Error(`${field.name}: ${reading.reason}`);
      return reading.value;
    });
    const record = { id, now: written.toISOString(), values };
    const stored = await this.pool.run((sql) => insertRecord(sql, plan, record, { targets: [] }));
    if (stored === undefined) throw new Error('the record was not stored');
    this.#remember(collection, stored);
    return id;
  }

  /** Stores a user of the workspace. */
  async insertUser(fields: { email: string; verified: boolean }, id: string = randomUUID()): Promise<string> {
    const { email, verified } = fields;
    await this.pool.run((sql) =>
      sql`insert into workspace.users (id, email, verified, created_at, updated_at)
        values (${id}, ${email}, ${verified}, ${written}, ${written})`
    );
    const at = written.toISOString();
    this.#remember('users', { id, fields: { ...fields, last_login: null }, created_at: at, updated_at: at });
    return id;
  }

  /** Decides a filter on `posts`, or another collection, in both meanings. */
  async select(
    filter: string,
    options: { request?: RequestValues; collection?: string; guard?: SqlPosition['guard'] } = {},
  ): Promise<Selection> {
    const { request = requestOf(), collection = 'posts' } = options;
    const condition = conditionOf(filter, scopeIn(this.app, collection));
    const place = { alias: 'r', firstParameter: 2, ...(options.guard ? { guard: options.guard } : {}) };
    const { text, params } = toSql(fold(condition, request), place);
    const table = `${quoteIdentifier(schema)}.${quoteIdentifier(collection)}`;
    // A parameter of our own in front: the fragment must fit into any statement.
    const rows = await this.pool.run((sql) =>
      sql.unsafe(`select "key" from ${table} as r where $1::boolean and ${text}`, [true, ...params]).values()
    );
    const sql = rows.map((row) => String(row[0])).sort();
    const records = this.records(collection);
    const passing = asksForMany(condition)
      ? await this.#selectPassing(records, collection, fold(condition, request))
      : records.filter((record) =>
        compilePredicate(condition)(this.subject(collection, record), request) === true
      );
    return { sql, memory: passing.map(({ fields }) => String(fields['key'])).sort() };
  }

  /** As streams decide it: for records that are not read from their table. */
  async #selectPassing(records: FilterRecord[], id: string, residue: Residue): Promise<FilterRecord[]> {
    const collection = this.app.collections.get(id);
    if (collection === undefined) throw new Error(`no collection ${id}`);
    const read = records.map((record) => ({ record, lost: undefined }));
    const [passing] = await this.pool.run((sql) =>
      selectPassing(sql, { app: this.app, collection }, read, [[{ residue }]])
    );
    return records.filter((_, position) => passing?.has(position));
  }

  /** Everything stored in a collection. */
  records(collection: string): FilterRecord[] {
    return [...this.#records.get(collection)?.values() ?? []];
  }

  /** A record with its relations, which are followed by their names; those that are not `visible` are as if not there. */
  subject(
    collection: string,
    record: FilterRecord,
    visible: (target: string, record: FilterRecord) => boolean = () => true,
  ): FilterSubject {
    const related = (hops: string) => {
      let [place, found]: [string, FilterRecord | undefined] = [collection, record];
      for (const hop of hops.split('.')) {
        place = this.app.collections.get(place)?.fields.find(({ name }) => name === hop)?.target ?? '';
        found = this.#records.get(place)?.get(String(found?.fields[hop]));
        if (found === undefined || !visible(place, found)) return undefined;
      }
      return found;
    };
    return { record, related };
  }

  /** The scope of one of its collections. */
  scope(collection: string): FilterScope {
    return scopeIn(this.app, collection);
  }

  #remember(collection: string, record: FilterRecord | StoredRecord): void {
    const known = this.#records.get(collection) ?? new Map<string, FilterRecord>();
    this.#records.set(collection, known.set(record.id, record));
  }
}

/**
 * Makes a database with the tables of an app. Its locale is one in which letters sort and change their case differently
 * (Turkish, ICU), because no filter may depend on it. Call `drop` when done.
 */
export async function makeTables(
  declared: Readonly<Record<string, readonly Field[]>> = collections,
): Promise<{ tables: FilteredTables; drop: () => Promise<void> }> {
  const app = appOf(declared);
  const database = `filter_${randomBytes(6).toString('hex')}`;
  const server = openPool('bulkhead');
  await server.run((sql) =>
    sql.unsafe(
      `create database ${database} template template0 encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C'`,
    )
  );
  const pool = openPool(database);
  await pool.run((sql) => sql.unsafe(usersTable));
  await pool.run((sql) => sql.unsafe(`create schema ${quoteIdentifier(schema)}`));
  await pool.run((sql) => sql.unsafe(`create table ${quoteIdentifier(schema)}._files (id uuid primary key)`));
  const functions = await readFile(
    new URL('../../../../migrations/app/0008_many.sql', import.meta.url),
    'utf8',
  );
  await pool.run((sql) =>
    sql.unsafe(`set search_path to ${quoteIdentifier(schema)}; ${functions}; reset search_path`)
  );
  for (const collection of app.collections.values()) {
    const { id, fields } = collection;
    await pool.run((sql) => createTable(sql, { schema, collection: id }, collection));
    // Rows hold ids of missing files: filters must decide on any id.
    for (const { name, many } of fields.filter(({ kind }) => kind === 'file')) {
      const constraint = quoteIdentifier(attachmentName('reference', id, name));
      const holder = many === true ? attachmentName('link', id, name) : id;
      await pool.run((sql) =>
        sql.unsafe(`alter table ${qualified({ schema, collection: holder })} drop constraint ${constraint}`)
      );
    }
  }
  const drop = async () => {
    await pool.end();
    await server.run((sql) => sql.unsafe(`drop database ${database} with (force)`));
    await server.end();
  };
  return { tables: new FilteredTables(app, pool), drop };
}
