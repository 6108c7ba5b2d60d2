// Rows of a page, of which no more is kept than an answer may hold.
import type { Sql } from './pool.ts';
import type { Params } from './rows.ts';
import type { Statement } from './statements.ts';

/** A page holds more than may be answered at once. */
export class PageTooLarge extends Error {
  constructor() {
    super('the page holds too much');
    this.name = 'PageTooLarge';
  }
}

/** What objects and numbers cost beside their texts, roughly. */
const weightOfValue = 16;

/**
 * Runs a statement and answers its rows as lists of values. Rows beyond `mostBytes` (characters of their texts, roughly) are
 * let go as they come, so that memory is bounded whatever was stored. Throws `PageTooLarge` when there were any.
 */
export async function rowsWithin(
  sql: Sql,
  { text, prepare }: Statement,
  { params, mostBytes }: { params: Params; mostBytes: number },
): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  let weight = 0;
  await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values().forEach((row) => {
    weight += weightOfRow(row);
    if (weight <= mostBytes) rows.push(row);
  });
  if (weight > mostBytes) throw new PageTooLarge();
  return rows;
}

function weightOfRow(row: readonly unknown[]): number {
  let weight = 0;
  for (const cell of row) weight += weightOf(cell);
  return weight;
}

function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? weightOfObject(value) : weightOfValue;
}

/** Of a JSON value. */
function weightOfObject(value: object): number {
  let weight = weightOfValue;
  for (const [key, item] of Object.entries(value)) weight += key.length + weightOf(item);
  return weight;
}
