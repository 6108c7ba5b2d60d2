// What a filter makes of the request: absent members, and bodies of the wrong shape.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilePredicate } from '../../../../storage/app/filter/evaluate.ts';
import { fold } from '../../../../storage/app/filter/fold.ts';
import type { RequestValues } from '../../../../storage/app/filter/request.ts';
import { conditionOf, type FilteredTables, makeTables, requestOf, type Selection } from './fixture.ts';

const ada = '019b1f2e-0000-7000-8000-00000000000a';
const bob = '019b1f2e-0000-7000-8000-00000000000b';
const asAda = requestOf({ auth: { id: ada, email: 'ada@example.com', role: 'user' } });
const anonymous = requestOf();

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makeTables());
  await tables.insertUser({ email: 'ada@example.com', verified: true }, ada);
  await tables.insertUser({ email: 'bob@example.com', verified: false }, bob);
  const author = await tables.insert('authors', { name: 'Ada' });
  const records = [
    { key: "ada's", owner: ada, title: ada, mail: 'ada@example.com', state: 'draft', views: 5, author },
    { key: "bob's", owner: bob, title: bob, mail: 'bob@example.com', state: 'public', views: 7 },
    { key: "nobody's", title: '', meta: { owner: null } },
  ];
  for (const record of records) await tables.insert('posts', record);
});

afterAll(() => drop());

function both(...keys: string[]): Selection {
  return { sql: [...keys].sort(), memory: [...keys].sort() };
}

/** Refused before any record is read, and for each record in memory. */
function expectRefused(rule: string, request: RequestValues): void {
  const condition = conditionOf(rule);
  expect(fold(condition, request), rule).toEqual({ kind: 'constant', passes: false });
  const predicate = compilePredicate(condition);
  for (const record of tables.records('posts')) {
    expect(predicate(tables.subject('posts', record), request), rule).not.toBe(true);
  }
}

const all = ["ada's", "bob's", "nobody's"];

describe('rule.null-logic', () => {
  it.each([
    'owner = @request.auth.id',
    'owner != @request.auth.id',
    '!(owner = @request.auth.id)',
    '!(owner != @request.auth.id)',
    '!!(owner != @request.auth.id)',
    'title = @request.auth.id',
    'title != @request.auth.id',
    'meta.owner = @request.auth.id',
    'meta.owner != @request.auth.id',
    'author.name != @request.auth.id',
    '!(author.name = @request.auth.id)',
    'title ~ @request.auth.id',
    'title !~ @request.auth.id',
    '!(title ~ @request.auth.id)',
    'owner > @request.auth.id || owner <= @request.auth.id',
    'owner in [@request.auth.id]',
    '!(owner in [@request.auth.id])',
    '@request.auth.id in []',
    '!(@request.auth.id in [])',
    "@request.auth.id != ''",
    "@request.auth.id = ''",
    "!(@request.auth.id = '')",
    '@request.auth.id = @request.auth.id',
    '@request.auth.id != @request.auth.id',
    "@request.auth.role != 'admin'",
    "!(@request.auth.role = 'admin') && state = 'public'",
    '!(@request.auth.id = owner || @request.auth.id != owner)',
    '@request.auth.id != null',
    '@request.auth.email = mail',
    '@request.query.owner = owner || @request.query.owner != owner',
    '@request.body.owner != owner',
    '@now = @request.body.at',
    'views > @request.query.min || !(views > @request.query.min)',
  ])('rule.null-logic: %s lets no anonymous caller pass', async (rule) => {
    expect(await tables.select(rule, { request: anonymous })).toEqual(both());
  });

  it.each([
    ['@request.auth.id = null', all],
    ['!(@request.auth.id != null)', all],
    ['@request.query.q = null && @request.body.q = null', all],
    ["@request.auth.id = null && state = 'public'", ["bob's"]],
    ["owner = @request.auth.id || state = 'public'", ["bob's"]],
    // Whatever the unknown part is, the other settles these.
    ["!(owner = @request.auth.id && state = 'public')", ["ada's", "nobody's"]],
    ["!(owner = @request.auth.id || state = 'public')", []],
    ["@request.method = 'GET'", all],
  ])('rule.null-logic: %s is decided by what is known', async (rule, keys) => {
    expect(await tables.select(rule, { request: anonymous })).toEqual(both(...keys));
  });

  it.each([
    ['owner = @request.auth.id', ["ada's"]],
    ['owner != @request.auth.id', ["bob's", "nobody's"]],
    ['!(owner = @request.auth.id)', ["bob's", "nobody's"]],
    ['title = @request.auth.id', ["ada's"]],
    ['@request.auth.email = mail', ["ada's"]],
    ['owner.email = @request.auth.email', ["ada's"]],
    ['owner.verified = false', ["bob's"]],
    ['owner.last_login = null && owner.created_at < @now', ["ada's", "bob's"]],
    ["@request.auth.id != ''", all],
    ["@request.auth.role = 'user'", all],
    ["@request.auth.role = 'admin'", []],
    [`@request.auth.id = '${ada}'`, all],
  ])('rule.null-logic: %s for a user', async (rule, keys) => {
    expect(await tables.select(rule, { request: asAda })).toEqual(both(...keys));
  });

  it('rule.null-logic: a principal whose id is no UUID owns nothing', async () => {
    const request = requestOf({ auth: { id: 'admin', role: 'master' } });
    expect(await tables.select('owner = @request.auth.id', { request })).toEqual(both());
    expect(await tables.select('owner != @request.auth.id', { request })).toEqual(both(...all));
    expect(await tables.select("@request.auth.email != ''", { request })).toEqual(both());
  });
});

describe('rule.body-ref', () => {
  const bodies: readonly (readonly [string, RequestValues['body']])[] = [
    ['nothing', {}],
    ['an array', { x: ['a'] }],
    ['an array of the owner', { x: [ada] }],
    ['an empty array', { x: [] }],
    ['an object', { x: { toString: 'a' } }],
    ['an empty object', { x: {} }],
    ['a text with a NUL', { x: 'a\0' }],
    ['half a character', { x: '\ud800' }],
  ];

  it.each(bodies)('rule.body-ref: %s makes no comparison true, however it is turned', (_, body) => {
    const request = { ...asAda, body };
    const others = [
      "'a'",
      'title',
      'views',
      'owner',
      'due',
      'meta',
      'meta.owner',
      'author.name',
      '@now',
      '5',
      "''",
    ];
    for (const operator of ['=', '!=', '>', '>=', '<', '<=', '~', '!~']) {
      // What is not compared at all is refused when the rule is written.
      const never = operator.includes('~')
        ? ['views', 'due', 'meta', '@now']
        : /[<>]/.test(operator)
        ? ['meta']
        : [];
      for (const other of [...others, '@request.auth.id', '@request.body.x']) {
        if (never.includes(other)) continue;
        for (const rule of [`@request.body.x ${operator} ${other}`, `${other} ${operator} @request.body.x`]) {
          expectRefused(rule, request);
          expectRefused(`!(${rule})`, request);
        }
      }
    }
    expectRefused('@request.body.x in [title, 5]', request);
    expectRefused('!(title in [5, @request.body.x])', request);
    expectRefused('!(@request.body.x in [])', request);
  });

  it.each(bodies.slice(1))('rule.body-ref: %s is not taken for nothing at all', (_, body) => {
    expectRefused('@request.body.x = null', { ...asAda, body });
    expect(fold(conditionOf('@request.body.x != null'), { ...asAda, body })).toEqual({
      kind: 'constant',
      passes: true,
    });
  });

  it.each([
    ['"5" for a number', { x: '5' }, [
      'views = @request.body.x',
      'views <= @request.body.x',
      '@request.body.x = 5',
    ]],
    ['5 for a text', { x: 5 }, [
      "@request.body.x = '5'",
      'title ~ @request.body.x',
      'state >= @request.body.x',
    ]],
    ['1 for true', { x: 1 }, ['@request.body.x = true', 'done = @request.body.x']],
    ['"true" for true', { x: 'true' }, ['@request.body.x = true', 'done = @request.body.x']],
    ['0 for nothing', { x: 0 }, [
      '@request.body.x = null',
      "@request.body.x = ''",
      '@request.body.x = false',
    ]],
    ['"" for nothing', { x: '' }, ['@request.body.x = null', 'owner = @request.body.x']],
    ['"null" for nothing', { x: 'null' }, ['@request.body.x = null', 'owner = @request.body.x']],
  ])('rule.body-ref: does not take %s', async (_, body, rules) => {
    for (const rule of rules) {
      expect(await tables.select(rule, { request: { ...asAda, body } }), rule).toEqual(both());
    }
  });

  it.each([
    ['owner = @request.body.x', { x: ada.toUpperCase() }, ["ada's"]],
    ['views = @request.body.x', { x: 5 }, ["ada's"]],
    ['state = @request.body.x', { x: 'public' }, ["bob's"]],
    ['created_at < @request.body.x', { x: '2026-01-02T05:04:05.679+02:00' }, all],
    ['created_at < @request.body.x', { x: '2026-01-02T05:04:05.678+02:00' }, []],
    ['@request.body.x in []', { x: 0 }, []],
    ['!(@request.body.x in [])', { x: 5 }, all],
    ['@request.body.x != null', { x: [] }, all],
    ['@request.body.x = null', { x: null }, all],
    ["@request.body.x != 'a'", { x: null }, all],
    ["@request.body.x = 'a'", { x: null }, []],
    ['@request.body.constructor = null && @request.body.__proto__ = null', {}, all],
    ["@request.body.constructor = 'x'", JSON.parse('{"constructor":"x"}'), all],
    ["@request.body.__proto__ = 'x'", JSON.parse('{"__proto__":"x"}'), all],
  ])('rule.body-ref: %s of %j', async (rule, body, keys) => {
    expect(await tables.select(rule, { request: { ...asAda, body } })).toEqual(both(...keys));
  });

  it.each([
    ['views > @request.query.q', '6', ["bob's"]],
    ['views > @request.query.q', '6x', []],
    ['owner = @request.query.q', ada, ["ada's"]],
    ['state = @request.query.q', 'public', ["bob's"]],
    ['@request.query.q = 6', '6.0', all],
    ["@request.query.q = '6'", '6.0', []],
    ['@request.query.q = true', 'true', all],
    ['created_at < @request.query.q', '2026-02-01', all],
    ['title ~ @request.query.q', '%00A', ["ada's"]],
  ])('a parameter of the query is read as what it is compared with: %s of %s', async (rule, q, keys) => {
    expect(await tables.select(rule, { request: { ...asAda, query: { q } } })).toEqual(both(...keys));
  });
});
