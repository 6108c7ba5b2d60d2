// Patterns and unlike types, in SQL and in memory, from every place a value can come from.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScalarType } from '../../../../../storage/app/filter/condition.ts';
import { operators } from '../../../../../storage/app/filter/operators/operators.ts';
import { type FilteredTables, requestOf } from '../fixture.ts';
import { expectKeys, makePairs, names, orders, pairsOf, patterns, types } from '../pairs.ts';

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makePairs());
});

afterAll(() => drop());

async function expectBoth(
  filter: string,
  type: ScalarType,
  keys: readonly string[],
  request = requestOf(),
): Promise<void> {
  await expectKeys(tables, { filter, type, keys, request });
}

describe('patterns', () => {
  const cases: readonly (readonly [text: string | null, pattern: string, matches: boolean])[] = [
    ['banana', 'NAN', true],
    ['banana', '', true],
    ['', '', true],
    ['banana', 'ban%', true],
    ['banana', 'nan%', false],
    ['banana', '%a', true],
    ['banana', 'b%n%n%a', true],
    ['banana', 'b%n%n%n%a', false],
    ['aba', 'ab%ba', false],
    ['ab', 'a%b%b', false],
    ['abb', 'a%b%b', true],
    ['abc', 'a%b%bc', false],
    ['aaa', '%aa%aa%', false],
    ['abc', 'a_c%', false],
    ['a_c', 'A_C%', true],
    ['é', 'É', true],
    ['ΟΔΟΣ', 'οδος', true],
    ['null', 'x', false],
    [null, '', false],
    [null, '%', false],
  ];
  const key = (index: number) => `pattern ${index}`;

  beforeAll(async () => {
    for (const [index, [text, pattern]] of cases.entries()) {
      const same = crypto.randomUUID();
      const fields = {
        key: key(index),
        l_text: text,
        r_text: pattern,
        json: { l: text, r: [pattern] },
        same,
      };
      await tables.insert('pairs', fields, same);
    }
  });

  it.each(patterns)('%s matches columns, JSON, literals and values of the request', async (operator) => {
    const holds = (index: number) => (cases[index]?.[2] === true) === (operator === '~');
    const passing = cases.map((_, index) => key(index)).filter((_, index) => holds(index)).sort();
    const failing = cases.map((_, index) => key(index)).filter((_, index) => !holds(index)).sort();
    for (const left of ['l_text', 'json.l', 'same.l_text', 'same.json.l']) {
      for (const right of ['r_text', 'json.r.0']) {
        const options = { collection: 'pairs' };
        const wanted = `key ~ 'pattern %' && `;
        expect(await tables.select(`${wanted}${left} ${operator} ${right}`, options), left).toEqual({
          sql: passing,
          memory: passing,
        });
        expect(await tables.select(`${wanted}!(${left} ${operator} ${right})`, options), left)
          .toEqual({ sql: failing, memory: failing });
      }
      for (const [index, [, pattern]] of cases.entries()) {
        const request = requestOf({ body: { v: pattern }, query: { v: pattern } });
        const found = holds(index) ? [key(index)] : [];
        for (const right of [`'${pattern}'`, '@request.body.v', '@request.query.v']) {
          expect(
            await tables.select(`key = '${key(index)}' && ${left} ${operator} ${right}`, {
              request,
              collection: 'pairs',
            }),
          )
            .toEqual({ sql: found, memory: found });
        }
      }
    }
  });

  it.each(patterns)(
    '%s finds nothing by a record or a request of more than 256 characters',
    async (operator) => {
      const long = ['x', '𝒳'].flatMap((letter) => [256, 257].map((length) => ({ letter, length })));
      const keyOf = ({ letter, length }: typeof long[number]) => `long ${operator} ${letter} ${length}`;
      for (const each of long) {
        const [text, pattern] = [each.letter.repeat(300), each.letter.repeat(each.length)];
        await tables.insert('pairs', {
          key: keyOf(each),
          l_text: text,
          r_text: pattern,
          json: { r: pattern },
        });
      }
      const found = long.filter(({ length }) => (length === 256) === (operator === '~')).map(keyOf).sort();
      for (const right of ['r_text', 'json.r']) {
        const filter = `key ~ 'long ${operator} %' && l_text ${operator} ${right}`;
        expect(await tables.select(filter, { collection: 'pairs' })).toEqual({ sql: found, memory: found });
      }
      for (const each of long) {
        const request = requestOf({ body: { v: each.letter.repeat(each.length) } });
        const keys = found.filter((key) => key === keyOf(each));
        const filter = `key = '${keyOf(each)}' && l_text ${operator} @request.body.v`;
        const options = { request, collection: 'pairs' };
        expect(await tables.select(filter, options)).toEqual({ sql: keys, memory: keys });
      }
    },
  );

  it.each(patterns)('%s takes a UUID for its text', async (operator) => {
    const uuids = pairsOf('uuid').filter(({ left }) => ([2, 3].includes(left)) === (operator === '~')).map((
      { key },
    ) => key);
    await expectBoth(`l_uuid ${operator} '019B1F'`, 'uuid', uuids);
  });
});

describe('unlike types', () => {
  it.each(types)('are never equal, unequal or ordered, but for what has no value: %s', async (type) => {
    const empty = pairsOf(type).filter(({ left }) => left === 0).map(({ key }) => key);
    const body =
      { text: { v: 5 }, number: { v: '5' }, boolean: { v: 1 }, datetime: { v: 'x' }, uuid: { v: 5 } }[type];
    const request = requestOf({ body });
    for (const operator of orders) {
      await expectBoth(
        `l_${type} ${operator} @request.body.v`,
        type,
        operator === '!=' ? empty : [],
        request,
      );
    }
  });

  it('are never alike in JSON either, nor are arrays and objects like anything', async () => {
    await tables.insert('pairs', {
      key: 'mixed',
      l_number: 5,
      l_text: '5',
      l_boolean: true,
      json: { l: '5', r: [5], o: {}, a: [1] },
    });
    for (const operator of names) {
      const beside = operators[operator].pattern ? 'l_text' : 'l_number';
      for (
        const comparison of [
          `json.l ${operator} json.o`,
          `json.a ${operator} json.a`,
          `json.o ${operator} ${beside}`,
          `json.r.0 ${operator} l_text`,
        ]
      ) {
        const found = await tables.select(`key = 'mixed' && ${comparison}`, { collection: 'pairs' });
        expect(found, comparison).toEqual({ sql: [], memory: [] });
      }
      for (
        const comparison of [
          `json.o ${operator} json.nothing`,
          `l_uuid ${operator} json.a`,
          `json.a.x ${operator} ${beside}`,
        ]
      ) {
        const keys = operators[operator].withoutValue ? ['mixed'] : [];
        const found = await tables.select(`key = 'mixed' && ${comparison}`, { collection: 'pairs' });
        expect(found, comparison).toEqual({ sql: keys, memory: keys });
      }
    }
  });

  it('but a UUID is like its text', async () => {
    const id = '019b1f2e-0000-7000-8000-00000000000a';
    await tables.insert('pairs', { key: 'uuid and text', l_uuid: id, r_text: id, json: { l: id } });
    for (
      const comparison of [
        'l_uuid = r_text',
        'r_text >= l_uuid',
        'json.l = l_uuid',
        '!(l_uuid != json.l)',
        'l_uuid ~ r_text',
      ]
    ) {
      const found = await tables.select(`key = 'uuid and text' && ${comparison}`, { collection: 'pairs' });
      expect(found, comparison).toEqual({ sql: ['uuid and text'], memory: ['uuid and text'] });
    }
  });
});
