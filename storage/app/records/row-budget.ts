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

/** A budget of memory, roughly in characters of text, that several statements may share. */
export interface RowBudget {
  left: number;
}

/** The weight of objects and numbers beside their texts, roughly. */
const valueWeight = 16;

/**
 * Runs a statement and returns its rows as lists of values. Rows beyond the budget are dropped as they come, so that
 * memory is bounded whatever is stored. Throws `RowsTooLarge` if there were any.
 */
export async function selectWithin(
  sql: Sql,
  { text, prepare }: Statement,
  { params, budget }: { params: Params; budget: RowBudget },
): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values().forEach((row) => {
    budget.left -= weighRow(row);
    if (budget.left >= 0) rows.push(row);
  });
  if (budget.left < 0) throw new RowsTooLarge();
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
