// Rows for an answer, of which no more is kept than it may hold.
import type { Sql } from '../../connections/pool.ts';
import type { Params } from '../../sql/rows.ts';
import type { Statement } from '../../connections/statements.ts';

/** The rows hold more than may be kept at once. */
export class RowsTooLarge extends RangeError {
  constructor() {
    super('the rows hold too much');
    this.name = 'TooMuchAtOnce';
  }
}

/** How much may still be kept, in characters of texts, roughly; statements for one answer share it. */
export interface RowBudget {
  left: number;
}

/** What objects and numbers cost beside their texts, roughly. */
const valueWeight = 16;

/**
 * Runs a statement and answers its rows as lists of values. Rows for which there is no room are let go as they come, so that
 * memory is bounded whatever was stored. Throws `TooMuchAtOnce` when there were any.
 */
export async function selectWithin(
  sql: Sql,
  { text, prepare }: Statement,
  { params, room }: { params: Params; room: RowBudget },
): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values().forEach((row) => {
    room.left -= weighRow(row);
    if (room.left >= 0) rows.push(row);
  });
  if (room.left < 0) throw new RowsTooLarge();
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

/** Of a JSON value. */
function weighObject(value: object): number {
  let weight = valueWeight;
  for (const [key, item] of Object.entries(value)) weight += key.length + weigh(item);
  return weight;
}
