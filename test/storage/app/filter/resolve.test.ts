// Names and literals: what a collection knows, and what can be read as what.
import { describe, expect, it } from 'vitest';
import type { CollectionDefinition } from '../../../../storage/definition.ts';
import { type Hop, relatedParts } from '../../../../storage/app/filter/condition.ts';
import { FilterError } from '../../../../storage/app/filter/parse/error.ts';
import { filterScope } from '../../../../storage/app/filter/source.ts';
import { appOf, conditionOf, scopeIn } from './fixture.ts';

const app = appOf();

function faultOf(
  filter: string,
  scope = scopeIn(app),
): { code: string; position: number; message: string } | undefined {
  try {
    conditionOf(filter, scope);
    return undefined;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { code: error.code, position: error.position, message: error.message };
  }
}

describe('names', () => {
  it.each([
    'id = null',
    'created_at < updated_at',
    'title = subtitle',
    'meta = null',
    'meta.a.b.0.c = 1',
    'author = null',
    'author.id = author',
    'author.name = 1',
    'author.meta.x = 1',
    'author.company.country.name = 1',
    'author.friend.friend.name = 1',
    'author.friend.friend = null',
    'owner.email = owner.id',
    'owner.verified = true',
    `meta${'.x'.repeat(64)} = 1`,
  ])('knows %s', (filter) => {
    expect(faultOf(filter)).toBeUndefined();
  });

  it.each([
    ['nothing = 1', 1, 'nothing'],
    ['title = 1 && 1 = Title', 18, 'Title'],
    ['title in [subtitle, nothing]', 21, 'nothing'],
    ['nothing in []', 1, 'nothing'],
    ['nothing = null', 1, 'nothing'],
    ['null != nothing', 9, 'nothing'],
    ['title.x = 1', 1, 'title.x'],
    ['views.0 = 1', 1, 'views.0'],
    ['file.id = 1', 1, 'file.id'],
    ['author.nothing = 1', 1, 'author.nothing'],
    ['author.company.country.name.x = 1', 1, 'author.company.country.name.x'],
    ['posts.title = 1', 1, 'posts.title'],
    ['collection = 1', 1, 'collection'],
    ['constructor = 1', 1, 'constructor'],
    ['__proto__ = 1', 1, '__proto__'],
    ['toString.name = 1', 1, 'toString.name'],
    ['ctid = 1', 1, 'ctid'],
    ['tableoid = 1', 1, 'tableoid'],
    ['xmin = 1', 1, 'xmin'],
  ])('does not know %s', (filter, position, name) => {
    const message = `unknown column "${name}" (at character ${position})`;
    expect(faultOf(filter)).toEqual({ code: 'unknown_column', position, message });
  });

  it('follows three relations, and no more', () => {
    expect(faultOf('author.friend.friend.friend.name = 1')).toMatchObject({
      code: 'parse_error',
      position: 1,
    });
  });

  it('follows 64 steps into JSON, and no more', () => {
    expect(faultOf(`meta${'.x'.repeat(65)} = 1`)).toMatchObject({ code: 'parse_error', position: 1 });
  });

  it('does not know a relation whose target was deleted', () => {
    const [posts, ...others] = [...app.collections.values()].reverse();
    if (posts === undefined) throw new Error('no collections');
    const left = new Map(others.filter(({ id }) => id !== 'authors').map((other) => [other.id, other]));
    const scope = filterScope({ ...app, collections: left }, posts);
    expect(faultOf('author.name = 1', scope)?.code).toBe('unknown_column');
    expect(faultOf('author = null', scope)).toBeUndefined();
  });

  it('lists the related records that a filter reads, each after the one it hangs on', () => {
    const condition = conditionOf(
      'author.company.name = 1 || !(owner.email in ["x"]) && author.friend.name = title',
    );
    expect([...relatedParts(condition).keys()]).toEqual([
      'author',
      'author.company',
      'owner',
      'author.friend',
    ]);
    expect(relatedParts(condition).get('author.company')?.hops.map(({ target }) => target)).toEqual([
      'authors',
      'companies',
    ]);
    expect([...relatedParts(conditionOf('author = null && owner != id')).keys()]).toEqual([]);
  });

  it('lists the columns that are read of related records, also of a filter that is reached by a relation', () => {
    const read = (written: string, from?: readonly Hop[]) =>
      [...relatedParts(conditionOf(written), from)].map(([name, { columns }]) => [name, [...columns]]);
    expect(read('author.company.name = 1 && author.age > 1 && title = "x"')).toEqual([
      ['author', ['company', 'age']],
      ['author.company', ['name']],
    ]);
    const [hop] = relatedParts(conditionOf('author.name = 1')).get('author')?.hops ?? [];
    if (hop === undefined) throw new Error('no hop');
    expect(read('title = "x" || editor.name = 1', [{ ...hop, column: 'post' }])).toEqual([
      ['post', ['title', 'editor']],
      ['post.editor', ['name']],
    ]);
  });
});

describe('filter.hidden-columns', () => {
  const secrets = [
    'password_hash',
    'totp_sealed',
    'totp_secret',
    'totp_enabled',
    'has_password',
    'oauth_providers',
  ];

  it.each(secrets)(
    'filter.hidden-columns: fails for owner.%s as for a name that does not exist',
    (name) => {
      const unknown = faultOf('owner.nothing_of_the_sort = 1');
      for (const path of [`owner.${name}`, name]) {
        const fault = faultOf(`${path} = 1`);
        expect(fault?.code).toBe('unknown_column');
        expect(fault?.message.replace(path, '<name>')).toBe(
          unknown?.message.replace('owner.nothing_of_the_sort', '<name>'),
        );
      }
    },
  );

  it.each(secrets)('filter.hidden-columns: has no %s of the principal', (name) => {
    expect(faultOf(`@request.auth.${name} = 1`)?.code).toBe('unknown_column');
  });

  it('filter.hidden-columns: knows a field of that name in a collection that has one', () => {
    const collection: CollectionDefinition = {
      id: 'logins',
      kind: 'base',
      indexes: [],
      version: 1,
      rules: {},
      fields: [{ name: 'password_hash', kind: 'text' }],
      created_at: app.created_at,
      updated_at: app.updated_at,
    };
    expect(faultOf("password_hash = 'x'", filterScope(app, collection))).toBeUndefined();
  });
});

describe('literals', () => {
  it.each([
    "views = '5'",
    "views > '-1.5e3'",
    "done = 'true'",
    'title = 5',
    'title ~ true',
    'title in [1, false, "x"]',
    "due > '2026-01-02T03:04:05Z'",
    "due > '2026-01-02t03:04:05.678901+05:30'",
    "due > '2026-01-02 03:04:05Z'",
    "due > '2026-01-02'",
    "'2026-01-02' < @now",
    "id = '019B1F2E-0000-7000-8000-000000000000'",
    "id ~ '019b'",
    "author = '019b1f2e-0000-7000-8000-000000000000'",
    "meta.x = 'abc' || meta.x > 5 || meta.x = true",
    "1 = 1 || 'a' > 'b' || null = null || 5 != null",
    "@request.auth.id != ''",
    "@request.auth.id = 'abc' && @request.body.n > 5 && @request.query.n > 5",
    'title = null && views != null && meta.x = null && @now != null && @request.auth.id = null',
    'title > subtitle && done = owner.verified && due < created_at && id != title',
    'meta = null && other != null && meta = 5 && meta != views && meta = @request.body.meta',
  ])('takes %s', (filter) => {
    expect(faultOf(filter)).toBeUndefined();
  });

  it.each([
    ["views = 'abc'", 9, '"abc" is not a number'],
    ["views = ''", 9, '"" is not a number'],
    ["views = ' 5'", 9, '" 5" is not a number'],
    ["views = '0x10'", 9, '"0x10" is not a number'],
    ["views = 'Infinity'", 9, '"Infinity" is not a number'],
    ["views = '1e999'", 9, '"1e999" is not a number'],
    ['views = true', 9, '"true" is not a number'],
    ["'abc' > views", 1, '"abc" is not a number'],
    ["views in [1, 'abc']", 14, '"abc" is not a number'],
    ['done = 1', 8, '"1" is not true or false'],
    ["done = 'yes'", 8, '"yes" is not true or false'],
    ["due > 'x'", 7, '"x" is not a date and time such as 2026-01-02T03:04:05Z'],
    ['due > 5', 7, '"5" is not a date and time such as 2026-01-02T03:04:05Z'],
    ["due > '2026-02-30'", 7, '"2026-02-30" is not a date and time such as 2026-01-02T03:04:05Z'],
    [
      "due > '0000-01-01T00:00:00Z'",
      7,
      '"0000-01-01T00:00:00Z" is not a date and time such as 2026-01-02T03:04:05Z',
    ],
    ["@now = 'x'", 8, '"x" is not a date and time such as 2026-01-02T03:04:05Z'],
    ["id = 'abc'", 6, '"abc" is not a UUID'],
    ['author = 5', 10, '"5" is not a UUID'],
    ["author.views = 1 || owner.id != 'x'", 1, 'unknown column "author.views"'],
    ["author.age = 'x'", 14, '"x" is not a number'],
    ['title > null', 9, 'null can be compared with = and != only'],
    ['null ~ title', 1, 'null can be compared with = and != only'],
  ])('refuses %s', (filter, position, message) => {
    expect(faultOf(filter)).toMatchObject({ position, message: `${message} (at character ${position})` });
  });
});
