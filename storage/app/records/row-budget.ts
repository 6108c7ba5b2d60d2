// Rows within a budget: a statement whose rows take more memory than that fails.
import type { Sql } from '../../connections/pool.ts';
import type { Params } from '../../sql/rows.ts';
import type { Statement } from '../../connections/statements.ts';

/** The error of rows that take more memory than their budget. */
export class RowsTooLarge extends RangeError {
  constructor() {
    super('the rows hold too much');
    this.name = 'RowsTooLarge';
  }
}

/** The error of rows for which there is no memory at this moment. */
export class RowsMustWait extends Error {
  constructor() {
    super('there is no memory for the rows by now');
    this.name = 'RowsMustWait';
  }
}

/** How many bytes a row took lately, roughly; 0 as long as nothing is known. */
export interface RowWeight {
  bytes: number;
}

/** Where the memory of rows comes from. */
export interface RowMemory {
  /** How many rows are asked for at once; undefined for all of them. */
  readonly pieceRows: number | undefined;
  /** Counts a row that has come. False when there is no memory for it. */
  keep(bytes: number): boolean;
  /** Awaited before the next piece is asked for. Throws to end the statement. */
  rest(): Promise<void> | undefined;
}

/** A budget of memory, roughly in characters of text, that several statements may share. */
export interface RowBudget {
  left: number;
  /** The number of rows that may come; any number when left out. Further ones are dropped, and `hasMore` becomes true. */
  rows?: number;
  hasMore?: boolean;
  /** Without it, there is always memory within the budget. */
  memory?: RowMemory | undefined;
}

/** The weight of objects and numbers beside their texts, roughly. */
const valueWeight = 16;

/**
 * Runs a statement and returns its rows as lists of values. Throws `RowsTooLarge` for rows beyond the budget, and `RowsMustWait`;
 * rows are dropped from then on, so that memory is bounded whatever is stored.
 */
export async function selectWithin(
  sql: Sql,
  { text, prepare }: Statement,
  { params, budget }: { params: Params; budget: RowBudget },
): Promise<unknown[][]> {
  const { memory } = budget;
  const rows: unknown[][] = [];
  let failure: Error | undefined;
  const add = (row: unknown[]) => {
    if (budget.rows !== undefined && --budget.rows < 0) return void (budget.hasMore = true);
    const weight = weighRow(row);
    budget.left -= weight;
    if (budget.left < 0) failure = new RowsTooLarge();
    else if (failure === undefined && memory?.keep(weight) === false) failure = new RowsMustWait();
    if (failure === undefined) rows.push(row);
    else rows.length = 0;
  };
  const query = sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values();
  if (memory?.pieceRows === undefined) await query.forEach(add);
  else {
    for await (const piece of query.cursor(memory.pieceRows)) {
      piece.forEach(add);
      if (failure !== undefined) break;
      await memory.rest();
    }
  }
  if (failure !== undefined) throw failure;
  return rows;
}

function weighRow(row: readonly unknown[]): number {
  let weight = 0;
  for (const cell of row) weight += weigh(cell);
  return weight;
}

function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? weighObject(value) : valueWeight;
}

/** The weight of a JSON value. */
function weighObject(value: object): number {
  let weight = valueWeight;
  for (const [key, item] of Object.entries(value)) weight += key.length + weigh(item);
  return weight;
}
