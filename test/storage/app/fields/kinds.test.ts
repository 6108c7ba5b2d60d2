// The field kinds: which values each takes, what it stores of them, and which declarations make sense.
import { describe, expect, it } from 'vitest';
import type { Field, FieldKind } from '../../../../storage/definition.ts';
import { instantFromDatabase } from '../../../../storage/app/fields/datetime.ts';
import { kindNames, kinds, pointsTo } from '../../../../storage/app/fields/kinds.ts';

const uuid = '018f3c6e-1111-7000-8000-0123456789ab';

/** A declaration of each kind that is valid as it stands. */
const declared: Record<FieldKind, Field> = {
  text: { name: 'f', kind: 'text' },
  number: { name: 'f', kind: 'number' },
  bool: { name: 'f', kind: 'bool' },
  json: { name: 'f', kind: 'json' },
  datetime: { name: 'f', kind: 'datetime' },
  email: { name: 'f', kind: 'email' },
  url: { name: 'f', kind: 'url' },
  select: { name: 'f', kind: 'select', options: ['a', 'B', 'é'] },
  relation: { name: 'f', kind: 'relation', target: 't' },
  file: { name: 'f', kind: 'file' },
};

/** Of 254 characters, the most there may be. */
const longEmail = `${'a'.repeat(60)}@${`${'b'.repeat(63)}.`.repeat(3)}c`;

/** Values that each kind accepts, and what it stores of them. */
const taken: Record<FieldKind, [unknown, string | number][]> = {
  text: [['', ''], ['é\n😀', 'é\n😀'], ["'; drop table x; --", "'; drop table x; --"]],
  number: [[0, 0], [-1.5, -1.5], [1e308, 1e308], [5e-324, 5e-324]],
  bool: [[true, 'true'], [false, 'false']],
  json: [[{ a: [1, null] }, '{"a":[1,null]}'], [false, 'false'], ['', '""'], [[], '[]']],
  datetime: [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02t03:04:05.6789z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05.6+05:30', '2026-01-01T21:34:05.600Z'],
    ['2024-02-29T23:59:59-00:00', '2024-02-29T23:59:59.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['0099-06-01T00:00:00Z', '0099-06-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
  ],
  email: [
    ['A.b+c@Example.COM', 'a.b+c@example.com'],
    ['x@localhost', 'x@localhost'],
    ['a@\u212a.c', 'a@k.c'],
    [longEmail, longEmail],
  ],
  url: [['HTTP://example.com', 'HTTP://example.com'], ['https://[::1]:8/é?q#f', 'https://[::1]:8/é?q#f']],
  select: [['a', 'a'], ['B', 'B'], ['é', 'é']],
  relation: [[uuid, uuid], [uuid.toUpperCase(), uuid]],
  file: [[uuid, uuid]],
};

const scalars: unknown[] = ['text', 1, true, {}, [], ['a'], { a: 1 }, Number.NaN, Number.POSITIVE_INFINITY];

/** Values that each kind refuses, besides those of other types. */
const refused: Record<FieldKind, unknown[]> = {
  text: [1, true, {}, [], ['a'], 'a\0', '\ud800', '\udc00a'],
  number: ['1', true, {}, [], [1], Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  bool: ['true', 0, 1, {}, [true], ''],
  json: [
    'a\0',
    ['\ud800'],
    { 'a\0': 1 },
    { '\udfff': 1 },
    { a: Number.NaN },
    JSON.parse('{"__proto__":1}'),
    nested(65),
  ],
  datetime: [
    1,
    '',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-01-02 03:04:05Z',
    '2026-02-29T00:00:00Z',
    '2026-02-29T00:00:00.000Z',
    '2026-01-02T24:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:60Z',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+0530',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '12026-01-02T03:04:05Z',
    '２026-01-02T03:04:05Z',
  ],
  email: [
    '',
    'a',
    '@b',
    'a@',
    'a b@c',
    'a@b c',
    'a@b@c',
    'a@-b.c',
    `${'a'.repeat(65)}@b.c`,
    `${'a'.repeat(62)}@${`${'b'.repeat(63)}.`.repeat(3)}c`,
    'a@b.c\n',
    'mi\u212ae@b.c',
    '\u017f@b.c',
    [
      'a@b.c',
    ],
  ],
  url: [
    '',
    'example.com',
    'ftp://a',
    'javascript:alert(1)',
    'http:/a',
    'http://',
    'http:///a',
    'http://a b',
    'http://a\\b',
    ' http://a',
    'http://a\n',
    'http://a:99999',
    'http://[::1',
  ],
  select: ['b', '', 'A', ['a'], 0],
  relation: ['', 'x', `{${uuid}}`, uuid.replaceAll('-', ''), 1, [uuid]],
  file: ['', 'x', 1, [uuid], { id: uuid }],
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe.each(kindNames)('field kind %s', (name) => {
  const kind = kinds[name];
  const read = kind.reader(declared[name]);

  it('takes its values and says what to store', () => {
    for (const [value, stored] of taken[name]) expect(read(value)).toEqual({ value: stored });
  });

  it('shows what is not stored yet as JSON of the same meaning', () => {
    for (const [value, stored] of taken[name]) {
      expect(kind.shown(stored)).toEqual(typeof value === 'string' && name !== 'json' ? stored : value);
    }
  });

  it('refuses everything else with a reason', () => {
    const others = name === 'json' ? [] : scalars.filter((value) => typeof value === 'object');
    for (const value of [...refused[name], ...others]) {
      expect(read(value), JSON.stringify(value)).toEqual({ reason: expect.any(String) });
    }
  });

  it('accepts its plain declaration', () => {
    expect(kind.settingFaults(declared[name])).toEqual([]);
  });
});

const options = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('settings', () => {
  it('bound a text by characters, not by UTF-16 units or bytes', () => {
    const read = kinds.text.reader({ name: 'f', kind: 'text', min: 2, max: 3 });
    expect(read('😀')).toEqual({ reason: 'must have at least 2 characters' });
    expect(read('😀é')).toEqual({ value: '😀é' });
    expect(read('😀😀😀')).toEqual({ value: '😀😀😀' });
    expect(read('😀😀😀a')).toEqual({ reason: 'must have at most 3 characters' });
  });

  it('bound a number by value, both ends included', () => {
    const read = kinds.number.reader({ name: 'f', kind: 'number', min: -1, max: 1.5 });
    expect([-1, 0, 1.5].map(read)).toEqual([{ value: -1 }, { value: 0 }, { value: 1.5 }]);
    expect(read(-1.01)).toEqual({ reason: 'must be at least -1' });
    expect(read(1.51)).toEqual({ reason: 'must be at most 1.5' });
  });

  it('keep values out that a B-tree cannot hold, where the field has one', () => {
    const long = 'é'.repeat(1_301);
    expect(kinds.text.reader({ name: 'f', kind: 'text', unique: true })(long)).toHaveProperty('reason');
    expect(kinds.text.reader({ name: 'f', kind: 'text', unique: true })(long.slice(1))).toHaveProperty(
      'value',
    );
    expect(kinds.url.reader({ name: 'f', kind: 'url', index: true })(`http://a/${long}`)).toHaveProperty(
      'reason',
    );
    expect(kinds.text.reader({ name: 'f', kind: 'text' })(long)).toHaveProperty('value');
  });

  it('list a thousand options of 500 characters at most', () => {
    const most = [...options(999), 'a'.repeat(500)];
    expect(kinds.select.settingFaults({ name: 'f', kind: 'select', options: most })).toEqual([]);
  });

  it.each<[string, Field, string]>([
    ['a bound that is no length', { name: 'f', kind: 'text', min: -1 }, 'min'],
    ['a length that is not whole', { name: 'f', kind: 'text', max: 1.5 }, 'max'],
    ['bounds the wrong way round', { name: 'f', kind: 'number', min: 2, max: 1 }, 'min'],
    ['a select without options', { name: 'f', kind: 'select' }, 'options'],
    ['no options at all', { name: 'f', kind: 'select', options: [] }, 'options'],
    ['an option twice', { name: 'f', kind: 'select', options: ['a', 'a'] }, 'options'],
    ['more options than there may be', { name: 'f', kind: 'select', options: options(1_001) }, 'options'],
    ['an option that is too long', { name: 'f', kind: 'select', options: ['a'.repeat(501)] }, 'options'],
    ['an empty option', { name: 'f', kind: 'select', options: [''] }, 'options'],
    ['an option that cannot be stored', { name: 'f', kind: 'select', options: ['\ud800'] }, 'options'],
    ['a relation to nothing', { name: 'f', kind: 'relation' }, 'target'],
  ])('refuse %s', (_, field, setting) => {
    expect(kinds[field.kind].settingFaults(field)).toEqual([{ setting, reason: expect.any(String) }]);
  });
});

it('points to the rows that its values are ids of', () => {
  const targets = kindNames.map((name) => [name, pointsTo(declared[name])]).filter(([, target]) => target);
  expect(Object.fromEntries(targets)).toEqual({ relation: 't', file: '_files' });
});

describe('instants from the database', () => {
  it.each([
    ['2026-01-02 03:04:05+00', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05.6+00', '2026-01-02T03:04:05.600Z'],
    ['2026-01-02 03:04:05.67+00', '2026-01-02T03:04:05.670Z'],
    ['9999-12-31 23:59:59.999+00', '9999-12-31T23:59:59.999Z'],
    ['1999-09-09 09:09:09+00', '1999-09-09T09:09:09.000Z'],
    ['0001-01-01 00:00:00.001+00', '0001-01-01T00:00:00.001Z'],
  ])('show %s as %s', (text, shown) => {
    expect(instantFromDatabase(text)).toBe(shown);
  });
});
