// Rows of one statement, as lists of values: what every request for a record asks for.
import type postgres from 'postgres';
import type { Statement } from './statements.ts';

/** Rows, column by column. */
export type Rows = unknown[][];

/** What a statement is given. */
export type Params = NonNullable<Parameters<postgres.ISql['unsafe']>[1]>;

/** What the driver calls with each of its queries to send it. */
type Send = (query: LeanQuery) => void;

const sender = Symbol('sender');

/** The driver's client, and how a statement gets into it without a query of the driver's own. */
export type LeanSql = postgres.Sql & { readonly [sender]: Send };

/** Has `rowsOf` send its statements without queries of the driver's. */
export function lean(sql: postgres.Sql): LeanSql {
  // Every query knows it; one that nobody awaits is never sent.
  const send: unknown = Reflect.get(sql.unsafe(''), 'handler');
  if (typeof send !== 'function') throw new Error('the driver is not the one that this was written for');
  return Object.assign(sql, { [sender]: (query: LeanQuery) => void send(query) });
}

/** Runs a statement with parameters. `onRow` gets each row as it comes, and then none is answered. */
export function rowsOf(
  sql: postgres.ISql,
  { text, prepare }: Statement,
  params: Params,
  onRow?: (row: unknown[]) => void,
): Promise<Rows> {
  if (isLean(sql)) {
    return new Promise((resolve, reject) => {
      sql[sender](new LeanQuery({ text, prepare, params, onRow }, { resolve, reject }));
    });
  }
  const query = sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values();
  return onRow === undefined ? query : query.forEach(onRow).then(() => []);
}

function isLean(sql: postgres.ISql): sql is LeanSql {
  return sender in sql;
}

interface Wish extends Statement {
  params: Params;
  onRow: ((row: unknown[]) => void) | undefined;
}

interface Settlers {
  resolve: (rows: Rows) => void;
  reject: (error: unknown) => void;
}

const prepared = { prepare: true, simple: false } as const;
const unprepared = { prepare: false, simple: false } as const;

/**
 * A query as far as the driver's connections look at it (postgres 3.4.9). Its own are promises that assign themselves two
 * functions, and V8 takes a function that is assigned to a property for one that stays: it is made among the old objects, and
 * keeps its query with all that hangs on it alive until they are next looked through. That was 1.3 KiB of every statement,
 * and most of what the collector had to do.
 */
class LeanQuery {
  readonly strings: readonly string[];
  readonly args: Params;
  readonly options: typeof prepared | typeof unprepared;
  readonly forEachFn: ((row: unknown[]) => void) | undefined;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
  readonly isRaw = 'values';
  readonly tagged = false;
  /** Of where the query was made, for the stack of an error. */
  readonly origin = '';
  // What the driver notes on it; here so that all have one shape.
  state: unknown = null;
  statement: unknown = null;
  active = false;
  cancelled: unknown = null;
  prepare: unknown = undefined;
  string: unknown = undefined;
  signature: unknown = '';
  onlyDescribe: unknown = undefined;
  parameters: unknown = undefined;
  prepared: unknown = undefined;
  describeFirst: unknown = undefined;
  cursorFn: unknown = undefined;
  retried: unknown = undefined;

  constructor({ text, prepare, params, onRow }: Wish, { resolve, reject }: Settlers) {
    this.strings = [text];
    this.args = params;
    this.options = prepare ? prepared : unprepared;
    this.forEachFn = onRow;
    this.resolve = resolve;
    this.reject = reject;
  }
}
