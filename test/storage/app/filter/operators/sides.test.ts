// Which comparisons are refused when a filter is written: all that can never be true, and no other.
import { describe, expect, it } from 'vitest';
import { FilterError } from '../../../../../storage/app/filter/parse/error.ts';
import type { ScalarType } from '../../../../../storage/app/filter/condition.ts';
import { comparedAs, operators } from '../../../../../storage/app/filter/operators/operators.ts';
import { allSides, type Side, sidesFault } from '../../../../../storage/app/filter/operators/sides.ts';
import { conditionOf } from '../fixture.ts';
import { jsonTypes, names, types } from '../pairs.ts';

/** The message of the refusal; undefined for a filter that is none. */
function refusalOf(filter: string): string | undefined {
  try {
    conditionOf(filter);
    return undefined;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return error.message;
  }
}

/** The types that values of a side may have. */
function typesOf(side: Side): readonly ScalarType[] {
  return side === 'json' || side === 'place' ? jsonTypes : side === 'request' ? types : [side];
}

const columns: Readonly<Record<Exclude<Side, 'json'>, string>> = {
  text: 'title',
  number: 'views',
  boolean: 'done',
  datetime: 'due',
  uuid: 'author',
  place: 'meta.x',
  request: '@request.body.x',
};

describe.each(names)('a comparison by %s', (operator) => {
  it('is refused when no values of its sides ever compare, and only then', () => {
    for (const [left, one] of Object.entries(columns) as [Side, string][]) {
      for (const [right, other] of Object.entries(columns) as [Side, string][]) {
        const compares = typesOf(left).some((type) =>
          typesOf(right).some((beside) => comparedAs(operators[operator], type, beside) !== undefined)
        );
        const filter = `${one} ${operator} ${other}`;
        expect(refusalOf(filter) === undefined, filter).toBe(compares);
      }
    }
  });

  it('is refused whichever side is first', () => {
    const { sides } = operators[operator];
    for (const left of allSides) {
      for (const right of allSides) {
        const faults = [sidesFault(sides, left, right), sidesFault(sides, right, left)];
        expect(new Set(faults.map((fault) => fault === undefined)).size, `${left} ${right}`).toBe(1);
      }
    }
  });

  it('with a json field as a whole is one with a number, for being equal', () => {
    const equality = operator === '=' || operator === '!=';
    for (const other of ['5', 'views', 'author.age', '@request.body.x', '@request.query.x']) {
      expect(refusalOf(`meta ${operator} ${other}`) === undefined, other).toBe(equality);
      expect(refusalOf(`${other} ${operator} author.meta`) === undefined, other).toBe(equality);
    }
    const never = [
      "'x'",
      'true',
      'title',
      'done',
      'due',
      '@now',
      'id',
      'other',
      'other.x',
      '@request.auth.id',
    ];
    for (const other of never) {
      for (const filter of [`meta ${operator} ${other}`, `${other} ${operator} meta`]) {
        expect(refusalOf(filter), filter).toMatch(/^"\S+" never compares /);
      }
    }
  });
});

it.each([
  [
    "meta ~ 'x'",
    '"~" never compares a json field with a text: name a place inside the json field, such as meta.name or meta.0 (at character 1)',
  ],
  [
    "title = 'a' && 5 > meta",
    '">" never compares a number with a json field: name a place inside the json field, such as meta.name or meta.0 (at character 16)',
  ],
  [
    "!(meta in ['a', 'b'])",
    '"=" never compares a json field with a text: name a place inside the json field, such as meta.name or meta.0 (at character 3)',
  ],
  [
    'title = views',
    '"=" never compares a text with a number: a text compares with texts and ids (at character 1)',
  ],
  [
    "views ~ '5'",
    '"~" never compares a number with a text: a number compares with numbers, by = != > >= < <= (at character 1)',
  ],
  [
    'meta.expires > @now',
    '">" never compares a value in JSON with a date and time: a value in JSON compares with texts, ids, numbers, true and false; keep a date and time in a datetime field (at character 1)',
  ],
  [
    '@request.auth.id = views',
    '"=" never compares a text with a number: a text compares with texts and ids (at character 1)',
  ],
  [
    '@request.method = 5',
    '"=" never compares a text with a number: a text compares with texts and ids (at character 1)',
  ],
  [
    "1 = 'a'",
    '"=" never compares a number with a text: a number compares with numbers, by = != > >= < <= (at character 1)',
  ],
])('the refusal of %s says what works', (filter, message) => {
  expect(refusalOf(filter)).toBe(message);
});
