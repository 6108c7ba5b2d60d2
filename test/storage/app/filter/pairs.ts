// Every ordered pair of values of each type as a row, for the contract of the operators.
import { expect } from 'vitest';
import type { Field } from '../../../../storage/definition.ts';
import type { ScalarType } from '../../../../storage/app/filter/condition.ts';
import { operators } from '../../../../storage/app/filter/operators/operators.ts';
import type { Operator } from '../../../../storage/app/filter/parse/tree.ts';
import { type FilteredTables, makeTables, requestOf } from './fixture.ts';

/** Every operator. */
export const names = Object.keys(operators) as Operator[];
/** Those that compare by order. */
export const orders = names.filter((name) => !operators[name].pattern);
/** Those that match by pattern. */
export const patterns = names.filter((name) => operators[name].pattern);

/** Values of each type, null first, then in their order: what an operator says of two of them follows from where they stand. */
export const values: Record<ScalarType, readonly unknown[]> = {
  // Code points, not UTF-16 units: U+FFFD is below U+1F600, though D83D is below FFFD. And no locale: Z is below a, é above z.
  text: [
    null,
    '',
    ' ',
    '10',
    '9',
    'A',
    'Z',
    'a',
    'aa',
    'b',
    'É',
    'é',
    'İ',
    'ı',
    '퟿',
    '\uE000',
    '\uFFFD',
    '😀',
    '😀a',
    '\u{10FFFF}',
  ],
  number: [null, -1e308, -1, -5e-324, 0, 5e-324, 0.1, 0.30000000000000004, 1, 9007199254740991, 1e308],
  boolean: [null, false, true],
  datetime: [
    null,
    '0001-01-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '2026-01-02T03:04:05.678Z',
    '2026-01-02T03:04:05.679Z',
    '9999-12-31T23:59:59.999Z',
  ],
  uuid: [
    null,
    '00000000-0000-0000-0000-000000000000',
    '019b1f2e-0000-7000-8000-000000000000',
    '019b1f2e-0000-7000-8000-00000000000a',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
};

const kinds = {
  text: 'text',
  number: 'number',
  boolean: 'bool',
  datetime: 'datetime',
  uuid: 'file',
} as const;
/** Every type of a column that is not JSON. */
export const types = Object.keys(values) as ScalarType[];
/** Types that JSON has too. */
export const jsonTypes = ['text', 'number', 'boolean'] as const;

const pairs: readonly Field[] = [
  { name: 'key', kind: 'text' },
  ...types.flatMap((type): Field[] => [
    { name: `l_${type}`, kind: kinds[type] },
    { name: `r_${type}`, kind: kinds[type] },
  ]),
  { name: 'json', kind: 'json' },
  { name: 'same', kind: 'relation', target: 'pairs' },
];

/** The rows of a type: one for each ordered pair, with its key. */
export function pairsOf(type: ScalarType): { key: string; left: number; right: number }[] {
  const list = values[type];
  return list.flatMap((_, left) =>
    list.map((_, right) => ({ key: `${type} ${left} ${right}`, left, right }))
  );
}

/** The rows of one type where a test of the positions of both values holds, by key. */
export function keysWhere(type: ScalarType, test: (left: number, right: number) => boolean): string[] {
  return pairsOf(type).filter(({ left, right }) => test(left, right)).map(({ key }) => key);
}

/** A collection `pairs` with a row for each pair, whose relation `same` points to itself. */
export async function makePairs(): Promise<{ tables: FilteredTables; drop: () => Promise<void> }> {
  const { tables, drop } = await makeTables({ pairs });
  for (const type of types) {
    for (const { key, left, right } of pairsOf(type)) {
      const [l, r] = [values[type][left], values[type][right]];
      const same = crypto.randomUUID();
      const fields = { key, [`l_${type}`]: l, [`r_${type}`]: r, json: { l, r: [r] }, same };
      await tables.insert('pairs', fields, same);
    }
  }
  return { tables, drop };
}

const meanings: Record<Exclude<Operator, '~' | '!~'>, (left: number, right: number) => boolean> = {
  '=': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
};

/** What decisions say: a side without a value is unlike everything. */
export function says(operator: Operator, left: number, right: number): boolean {
  if (operator === '~' || operator === '!~') throw new Error('not an order');
  return left === 0 || right === 0 ? operator === '!=' : meanings[operator](left, right);
}

/** A value as a literal. */
export function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Decides on the rows of a type only; the others would pass where nothing is required. */
export async function expectKeys(
  tables: FilteredTables,
  { filter, type, keys, request = requestOf() }: {
    filter: string;
    type: ScalarType;
    keys: readonly string[];
    request?: ReturnType<typeof requestOf>;
  },
): Promise<void> {
  const selected = await tables.select(`key ~ '${type} %' && ${filter}`, { request, collection: 'pairs' });
  expect(selected, filter).toEqual({ sql: [...keys].sort(), memory: [...keys].sort() });
}
