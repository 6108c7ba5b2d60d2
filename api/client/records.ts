// The records of a collection: lists, single records, writes and numbers about them.
import type { Filter } from './filter.ts';
import type { Connection } from './realtime/connection.ts';
import { createLive, type Live } from './realtime/live.ts';
import { type Change, Watch, type Watching, type WatchOptions } from './realtime/watch.ts';
import type { Transport } from './transport.ts';
import type { AppShape, CollectionName, ExpandPath, FieldName, RecordOf, Selected } from './types.ts';

/** Which fields and related records a response has. */
export interface Selection<F extends string, E extends string> {
  /** Only these fields. */
  fields?: readonly F[] | undefined;
  /** Related records, with dots those behind them. */
  expand?: readonly E[] | undefined;
  signal?: AbortSignal | undefined;
}

/** Which records a list has, and in which order. */
export interface ListOptions<F extends string, E extends string> extends Selection<F, E> {
  filter?: Filter | string | undefined;
  /** Names of fields, `-` before one for descending order. */
  sort?: string | readonly string[] | undefined;
  search?: string | undefined;
  page?: number | undefined;
  per_page?: number | undefined;
  /** The `next_cursor` of the page before, in the place of `page`. */
  cursor?: string | undefined;
  skip_total?: boolean | undefined;
}

/** A page of a list. */
export interface Page<R> {
  items: R[];
  page: number;
  per_page: number;
  /** -1 with `skip_total`. */
  total_items: number;
  total_pages: number;
  next_cursor: string | null;
}

/** A function of an aggregate. */
export type AggregateFunction = 'count' | `${'sum' | 'avg' | 'min' | 'max'}(${string})`;

/** The numbers of one group. */
export type Aggregate<N extends string, G extends string> =
  & { group: { [K in G]: unknown } }
  & {
    [K in N]: K extends 'count' ? number
      : K extends `${'sum' | 'avg'}(${string}` ? number | null
      : number | string | null;
  };

type SystemField = 'created_at' | 'updated_at';
type Own<T extends AppShape, C extends CollectionName<T>> = FieldName<T, C> | SystemField;

/** The records of a collection. All of it throws `BulkheadError` and `ConnectionError`. */
export interface Records<T extends AppShape, C extends CollectionName<T>> {
  /** A page of the records. */
  list<const F extends Own<T, C> = never, const E extends ExpandPath<T, C> = never>(
    options?: ListOptions<F, E>,
  ): Promise<Page<Selected<T, C, F, E>>>;
  /** All pages, one after the other. A record that keeps its place comes once, whatever is written meanwhile. */
  pages<const F extends Own<T, C> = never, const E extends ExpandPath<T, C> = never>(
    options?: ListOptions<F, E>,
  ): AsyncGenerator<Page<Selected<T, C, F, E>>, void>;
  /** The records that have all of the words, the best first. */
  search<const F extends Own<T, C> = never, const E extends ExpandPath<T, C> = never>(
    words: string,
    options?: ListOptions<F, E>,
  ): Promise<Page<Selected<T, C, F, E>>>;
  /** A record. Throws `NotFoundError`. */
  get<const F extends Own<T, C> = never, const E extends ExpandPath<T, C> = never>(
    id: string,
    options?: Selection<F, E>,
  ): Promise<Selected<T, C, F, E>>;
  /** Creates a record. A form is sent with its files. */
  create(
    fields: T['collections'][C]['create'] | FormData,
    options?: { signal?: AbortSignal },
  ): Promise<RecordOf<T, C>>;
  /** Changes some fields of a record. */
  update(
    id: string,
    fields: T['collections'][C]['update'] | FormData,
    options?: { signal?: AbortSignal },
  ): Promise<RecordOf<T, C>>;
  /** Creates a record, or updates the one that has the same values in the fields `on`, which are unique together. */
  upsert(
    fields: T['collections'][C]['create'],
    options: { on: FieldName<T, C> | readonly FieldName<T, C>[]; signal?: AbortSignal },
  ): Promise<RecordOf<T, C>>;
  /** Deletes a record. Throws `NotFoundError`. */
  delete(id: string, options?: { signal?: AbortSignal }): Promise<void>;
  /** Calls `onChange` for each change of the records that the filter and the `list` rule let through. */
  watch(
    filter: Filter | string | undefined,
    options: WatchOptions,
    onChange: (change: Change<RecordOf<T, C>>) => void,
  ): Watching;
  /** A list that stays right, of at most `limit` records (200 by default). */
  live<const F extends Own<T, C> = never, const E extends ExpandPath<T, C> = never>(
    query?: ListOptions<F, E> & { limit?: number },
  ): Live<Selected<T, C, F, E>>;
  /** Numbers about the records. */
  aggregate<const N extends AggregateFunction, const G extends Own<T, C> = never>(
    options: { fn: readonly N[]; group?: readonly G[]; filter?: Filter | string; signal?: AbortSignal },
  ): Promise<Aggregate<N, G>[]>;
}

/** How records reach the server. */
export interface RecordPorts {
  transport: Transport;
  connection: Connection;
  /** `/api/workspaces/:workspace/apps/:app` */
  home: string;
}

/** The untyped core of `Records`, which is the same for all of them. */
export function createRecords<T extends AppShape, C extends CollectionName<T>>(
  { transport, connection, home }: RecordPorts,
  collection: C,
): Records<T, C> {
  const path = `${home}/collections/${encodeURIComponent(collection)}/records`;
  const call = <R>(method: string, at: string, { signal, ...query }: Query, body?: unknown) =>
    transport.json<R>(method, path + at, { query, signal, body });
  const one = (id: string) => `/${encodeURIComponent(id)}`;
  const records: Records<T, C> = {
    list: (options = {}) => call('GET', '', options),
    pages: async function* (options = {}) {
      let cursor = options.cursor;
      do {
        const page = await records.list(
          cursor === undefined ? options : { ...options, page: undefined, cursor },
        );
        yield page;
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
    },
    search: (search, options) => records.list({ sort: '-@rank', ...options, search }),
    get: (id, options = {}) => call('GET', one(id), options),
    create: (fields, options = {}) => call('POST', '', options, fields),
    update: (id, fields, options = {}) => call('PATCH', one(id), options, fields),
    upsert: (fields, { on, signal }) => call('POST', '', { on_conflict: on, signal }, fields),
    delete: async (id, options = {}) => void await call('DELETE', one(id), options),
    watch: (filter = '', options, onChange) => {
      const watch = new Watch({ ...options, collection, filter: String(filter), onChange });
      connection.add(watch);
      return watch;
    },
    live: ({ limit = 200, ...query } = {}) =>
      createLive({
        read: async () => {
          const items = [];
          for await (
            const page of records.pages({ per_page: Math.min(limit, 200), skip_total: true, ...query })
          ) {
            items.push(...page.items);
            if (items.length >= limit) break;
          }
          return items.slice(0, limit);
        },
        watch: (onChange, options) => records.watch(undefined, options, onChange),
      }),
    aggregate: async (options) => (await call<{ items: never[] }>('GET', '/aggregate', options)).items,
  };
  return records;
}

type Query = { on_conflict?: unknown } & { signal?: AbortSignal | undefined };
