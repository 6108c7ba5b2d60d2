// Random records, requests and filters, out of few values, so that they meet.
import fc from 'fast-check';
import type { RequestValues } from '../../../../storage/app/filter/request.ts';
import type { Fields, FilteredTables } from './fixture.ts';
import { profileOf } from './profiles.ts';
import {
  exact,
  exactNumber,
  instant,
  json,
  maybe,
  number,
  scalar,
  states,
  tags,
  text,
  uuid,
  uuids,
} from './random-values.ts';

/** Fields of a record of `posts`. */
const record = fc.record({
  title: maybe(text),
  subtitle: maybe(text),
  mail: maybe(fc.constantFrom('ada@example.com', 'bob@example.com')),
  state: maybe(fc.constantFrom(...states)),
  views: maybe(number),
  likes: maybe(number),
  done: maybe(fc.boolean()),
  due: maybe(instant),
  meta: maybe(json),
  other: maybe(json),
  file: maybe(uuid),
  author: maybe(uuid),
  editor: maybe(uuid),
  owner: maybe(uuid),
  tags: maybe(fc.uniqueArray(fc.constantFrom(...tags), { maxLength: 3 })),
  files: maybe(fc.uniqueArray(uuid, { maxLength: 2 })),
  editors: maybe(fc.uniqueArray(uuid, { maxLength: 3 })),
  owners: maybe(fc.uniqueArray(uuid, { maxLength: 2 })),
});

/** The profile of a caller. */
const member = fc.record({
  plan: maybe(text),
  seats: maybe(number),
  active: maybe(fc.boolean()),
  since: maybe(instant),
  team: maybe(uuid),
  meta: maybe(json),
  contact: maybe(fc.constantFrom('ada@example.com')),
}).map((fields) => profileOf(uuids[0] ?? '', fields));

/** A request, most of whose members may be missing. */
export const request: fc.Arbitrary<RequestValues> = fc.record({
  now: instant.map((value) => Date.parse(value)),
  auth: maybe(fc.oneof(
    fc.record({
      id: fc.oneof(uuid, fc.constant('admin')),
      email: fc.constant('ada@example.com'),
      role: fc.constantFrom('user', 'a'),
    }),
    fc.record({ id: uuid, role: fc.constant('') }),
    fc.record({
      id: uuid,
      role: fc.constant('user'),
      verified: fc.boolean(),
      created_at: instant,
      profiles: fc.option(member, { freq: 3, nil: undefined }),
    }),
  )),
  body: fc.record({ x: fc.oneof(scalar, instant, uuid, json), y: scalar }, { requiredKeys: [] }),
  method: fc.constantFrom('GET', 'a'),
  query: fc.record(
    { x: fc.oneof(text, instant, uuid, fc.constantFrom('5', '1.5', ...exact, 'true', 'x\0')) },
    {
      requiredKeys: [],
    },
  ),
});

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const profile = '@request.auth.profile.members';

/** Columns with literals that fit them, most of the time. */
const columns: readonly (readonly [names: readonly string[], literal: fc.Arbitrary<string>])[] = [
  [[
    'title',
    'subtitle',
    'author.name',
    'author.friend.name',
    'author.company.name',
    'editor.name',
    'author.friend.company.country.name',
  ], text.map(quoted)],
  [['mail', 'owner.email'], fc.constantFrom("'ada@example.com'", "'ADA%'")],
  [['state'], fc.constantFrom("'draft'", "'public'", "'raf'")],
  [['tags', 'author.tags', 'author.friend.tags'], fc.constantFrom(...tags, 'A%', 'İ').map(quoted)],
  [['files', 'editors', 'owners', 'author.friends'], uuid.map(quoted)],
  [['views', 'likes', 'author.age'], fc.oneof(number.map(String), exactNumber)],
  [['done', 'owner.verified'], fc.constantFrom('true', 'false')],
  [['due', 'created_at', 'updated_at', 'author.created_at', 'owner.last_login', '@now'], instant.map(quoted)],
  [['id', 'file', 'author', 'author.id', 'author.company', 'editor', 'owner', 'owner.id'], uuid.map(quoted)],
  [
    [
      'meta',
      'meta.a',
      'meta.b',
      'meta.b.c',
      'meta.list.0',
      'meta.list.00',
      'meta.0',
      'meta.0.a',
      'other',
      'other.a',
      'author.meta.a',
    ],
    fc.oneof(text.map(quoted), number.map(String), exactNumber, fc.constantFrom('true', 'false')),
  ],
  [
    ['@request.auth.id', '@request.auth.email', '@request.body.x', '@request.body.y', '@request.query.x'],
    scalarLiteral(),
  ],
  [['@request.auth.role', '@request.method', `${profile}.plan`], text.map(quoted)],
  [[`${profile}.contact`], fc.constantFrom("'ADA@example.com'", "'a'")],
  [[`${profile}.seats`], fc.oneof(number.map(String), exactNumber)],
  [['@request.auth.verified', `${profile}.active`], fc.constantFrom('true', 'false')],
  [['@request.auth.created_at', `${profile}.since`, `${profile}.created_at`], instant.map(quoted)],
  [[`${profile}.team`, `${profile}.id`], uuid.map(quoted)],
  [
    [`${profile}.meta`, `${profile}.meta.a`, `${profile}.meta.list.0`],
    fc.oneof(text.map(quoted), number.map(String)),
  ],
];

function scalarLiteral(): fc.Arbitrary<string> {
  return fc.oneof(
    text.map(quoted),
    number.map(String),
    exactNumber,
    instant.map(quoted),
    uuid.map(quoted),
    fc.constantFrom('true', 'false'),
  );
}

const operand = fc.constantFrom(...columns.flatMap(([names]) => names));
const operator = fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '~', '!~');

const comparison = fc.constantFrom(...columns).chain(([names, literal]) => {
  const left = fc.constantFrom(...names);
  const right = fc.oneof({ weight: 4, arbitrary: literal }, { weight: 3, arbitrary: left }, {
    weight: 2,
    arbitrary: operand,
  }, {
    weight: 1,
    arbitrary: scalarLiteral(),
  });
  return fc.oneof(
    { weight: 8, arbitrary: fc.tuple(left, operator, right).map((parts) => parts.join(' ')) },
    { weight: 2, arbitrary: fc.tuple(right, operator, left).map((parts) => parts.join(' ')) },
    {
      weight: 1,
      arbitrary: fc.tuple(left, fc.constantFrom('=', '!=')).map((parts) => `${parts.join(' ')} null`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(left, fc.array(right, { maxLength: 3 })).map(([name, items]) =>
        `${name} in [${items.join(', ')}]`
      ),
    },
  );
});

/** A filter on `posts`, as text; some literals do not fit their columns. */
export const filter = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 2, arbitrary: comparison },
    { weight: 1, arbitrary: tie('filter').map((inside) => `!(${inside})`) },
    {
      weight: 1,
      arbitrary: fc.tuple(tie('filter'), fc.constantFrom('&&', 'or', '||', 'and'), tie('filter')).map((
        [a, word, b],
      ) => `(${a} ${word} ${b})`),
    },
  ),
})).filter;

/** Fills the tables: a company, authors and users with the ids that relations may name, and random posts. */
export async function fillAtRandom(
  tables: FilteredTables,
  { posts, userOf }: {
    posts: number;
    userOf: (id: string, index: number) => { email: string; verified: boolean };
  },
): Promise<void> {
  const [first = '', second = '', third = ''] = uuids;
  const country = await tables.insert('countries', { name: 'a' });
  const company = await tables.insert('companies', { name: 'É', country });
  await tables.insert('authors', {
    name: 'a',
    age: 5,
    meta: { a: 'a' },
    company,
    friend: first,
    friends: [first],
    tags: ['a'],
  }, first);
  await tables.insert('authors', {
    name: 'ΟΔΟΣ',
    age: 1.5,
    meta: { a: 5 },
    friend: first,
    friends: [second, first],
    tags: ['É', '5'],
  }, second);
  await tables.insert('authors', { name: null, meta: 'a', friend: second }, third);
  for (const [index, id] of uuids.entries()) await tables.insertUser(userOf(id, index), id);
  const samples: Fields[] = fc.sample(record, { numRuns: posts });
  for (const [index, fields] of samples.entries()) {
    await tables.insert(
      'posts',
      { ...fields, key: `post ${index}` },
      index === 0 ? first : crypto.randomUUID(),
    );
  }
}
