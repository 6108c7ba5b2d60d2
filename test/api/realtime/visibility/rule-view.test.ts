// What views are, and what tells them apart.
import { describe, expect, it } from 'vitest';
import { authorizedView } from '../../../../api/realtime/visibility/rule-view.ts';
import { admit } from '../../../../api/rules/access.ts';
import { canSeeCheck } from '../../../../api/rules/related.ts';
import type { Principal } from '../../../../api/scope.ts';
import type { AccessRule, CollectionDefinition } from '../../../../storage/definition.ts';
import { appOf } from '../../../storage/app/filter/fixture.ts';

const instant = new Date('2026-01-02T03:04:05.678Z');
const times = { created_at: instant, updated_at: instant };

function targetWith(filter: string, created_at = instant) {
  const list = { template: 'filter' as const, filter };
  const collection: CollectionDefinition = {
    id: 'posts',
    kind: 'base',
    fields: [],
    indexes: [],
    version: 1,
    rules: { list, get: list },
    ...times,
    created_at,
  };
  const workspace = { id: 'acme', name: 'Acme', database: 'w', ...times };
  const collections = new Map([['posts', collection]]);
  return { app: { workspace, id: 'shop', name: 'Shop', schema: 'a', collections, ...times }, collection };
}

const unasked = () => expect.fail('the database was asked');
const noDatabases = {
  app: unasked,
  get control(): never {
    return unasked();
  },
};

async function openView(target: ReturnType<typeof targetWith>, now = () => instant) {
  const access = await admit({ databases: noDatabases }, target, 'list', {
    principal: null,
    now: instant,
    query: {},
  });
  return authorizedView(target, access, { filter: '', now, reader: { read: unasked }, version: 1 });
}

describe('a view', () => {
  it('of a rule about the time alone asks it again for every event', async () => {
    let now = instant;
    const view = await openView(targetWith('@now < "2026-01-02T03:04:06Z"'), () => now);
    const stamp = instant.toISOString();
    const record = { id: 'x', collection: 'posts', fields: {}, created_at: stamp, updated_at: stamp };
    const passes = () =>
      view.passes({ type: 'record_created', record }, { follow: () => undefined, passes: () => false });
    expect(passes()).toBe(true);
    now = new Date(instant.getTime() + 1_000);
    expect(passes()).toBe(false);
  });

  it('is of another collection when there is a new one of the name', async () => {
    const rule = '@request.method = "GET"';
    const [before, after] = [
      await openView(targetWith(rule)),
      await openView(targetWith(rule, new Date(instant.getTime() + 1))),
    ];
    expect(after.incarnation).not.toBe(before.incarnation);
  });
});

it('a related record is looked at as of now, not of when the stream began', async () => {
  const target = targetWith('@now < "2026-01-02T03:04:06Z"');
  const asking = { principal: null, now: instant, query: {} };
  const access = await admit({ databases: noDatabases }, target, 'list', asking);
  const stamp = instant.toISOString();
  const record = { id: 'x', fields: {}, created_at: stamp, updated_at: stamp };
  const isSeen = (at: number) => canSeeCheck(access, target.app)?.('posts', { record }, at);
  expect([isSeen(instant.getTime()), isSeen(instant.getTime() + 1_000)]).toEqual([true, false]);
});

it('a user looks at itself through relations, however its token spells the id', async () => {
  const id = '0198a2b4-1111-7222-8333-abcdefabcdef';
  const target = targetWith('@request.auth.id != ""');
  const principal = {
    role: 'user',
    id: id.toUpperCase(),
    jti: 'j',
    issuedAt: 0,
    expiresAt: 0,
    workspace: 'acme',
  } as const;
  const access = await admit({ databases: noDatabases }, target, 'list', {
    principal,
    now: instant,
    query: {},
  });
  const stamp = instant.toISOString();
  const sees = (id: string) =>
    canSeeCheck(access, target.app)?.('users', {
      record: { id, fields: {}, created_at: stamp, updated_at: stamp },
    }, 0);
  expect(sees(id)).toBe(true);
  expect(sees('0198a2b4-1111-7222-8333-abcdefabcdee')).toBe(false);
});

describe('callers share a view', () => {
  const user = (id: string): Principal => ({
    role: 'user',
    id,
    workspace: 'w',
    jti: id,
    issuedAt: 0,
    expiresAt: 9e9,
  });
  const [ada, bob] = [user('ada'), user('bob')];
  const admin: Principal = { ...ada, role: 'workspace_admin' };
  const ruled = (filter: string): AccessRule => ({ template: 'filter', filter });

  interface Asked {
    list?: string;
    filter?: string;
    /** The `get` rule of authors. */
    get?: string;
    version?: number;
    /** Parameters of the address. */
    query?: Record<string, string>;
  }

  async function keyOf(principal: Principal, asked: Asked): Promise<string> {
    const { list, filter = '', get = 'name = "a"', version = 1, query = {} } = asked;
    const app = appOf();
    const rules = {
      posts: { list: list === undefined ? { template: 'any' as const, filter: null } : ruled(list) },
      authors: { get: ruled(get) },
    };
    const definitions = Object.entries(rules).map(([id, rules]): [string, CollectionDefinition] => [
      id,
      {
        id,
        kind: 'base',
        fields: app.collections.get(id)?.fields ?? [],
        indexes: [],
        rules,
        version,
        ...times,
      },
    ]);
    const collections = new Map([...app.collections, ...definitions]);
    const target = { app: { ...app, collections }, collection: collections.get('posts') };
    if (target.collection === undefined) throw new Error('no posts');
    const { collection } = target;
    const asking = { principal, now: instant, query: { ...query, filter } };
    const access = await admit({ databases: noDatabases }, { ...target, collection }, 'list', asking);
    const options = { filter, now: () => instant, reader: { read: unasked }, version: 1 };
    return authorizedView({ ...target, collection }, access, options).key;
  }

  it.each<[string, Asked]>([
    ['nothing asks for them', { list: 'state = "public"', filter: 'views > 1' }],
    ['the rule of what the filter looks at does not', { filter: 'author.name = "a"' }],
  ])('when %s', async (_what, asked) => {
    expect(await keyOf(ada, asked)).toBe(await keyOf(bob, asked));
  });

  it.each<[string, Asked]>([
    ['the rule asks for them', { list: 'owner = @request.auth.id' }],
    ['the filter asks for them', { filter: 'owner = @request.auth.id' }],
    ['the rule of what the filter looks at does', {
      filter: 'author.name = "a"',
      get: 'id = @request.auth.id',
    }],
    ['the filter looks at users', { filter: 'owner.verified = true' }],
  ])('but not when %s', async (_what, asked) => {
    expect(await keyOf(ada, asked)).not.toBe(await keyOf(bob, asked));
  });

  it('but not with an admin, whose filter looks at what theirs may not', async () => {
    const asked = { filter: 'author.name = "a"' };
    expect(await keyOf(ada, asked)).not.toBe(await keyOf(admin, asked));
  });

  it('but not with an admin, whom the rule does not hold', async () => {
    const asked = { list: 'views > 1' };
    expect(await keyOf(ada, asked)).not.toBe(await keyOf(admin, asked));
  });

  it.each<[string, Asked, Asked]>([
    ['filters', { filter: 'views > 1' }, { filter: 'views > 2' }],
    ['rules', { list: 'views > 1' }, { list: 'views > 2' }],
    ['versions of the collection', { filter: 'views > 1' }, { filter: 'views > 1', version: 2 }],
  ])('but not of different %s', async (_what, one, other) => {
    expect(await keyOf(ada, one)).not.toBe(await keyOf(ada, other));
  });

  it.each<[string, Asked]>([
    ['the rule asks for it', { list: 'views > @request.query.v || views = 0' }],
    ['the filter asks for it', { filter: 'views > @request.query.v' }],
    ['the rule of what the filter looks at does', {
      filter: 'author.name = "a"',
      get: 'name = @request.query.v',
    }],
  ])('but not of different addresses when %s', async (_what, asked) => {
    const keys = [{ v: '1' }, { v: '2' }, { w: '1' }, { v: '1', w: '2' }].map((query) =>
      keyOf(ada, { ...asked, query })
    );
    const [one, two, without, more] = await Promise.all(keys);
    expect(new Set([one, two, without]).size).toBe(3);
    expect(more).toBe(one);
  });

  it('whatever addresses nothing asks for', async () => {
    const asked = { list: 'views > 1', filter: 'views > 2' };
    expect(await keyOf(ada, { ...asked, query: { v: '1' } })).toBe(await keyOf(bob, asked));
  });

  it('and those who are no admins have no filter that asks too many rules', async () => {
    const get = Array.from({ length: 128 }, (_, age) => `age = ${age}`).join(' || ');
    const filter = Array.from({ length: 9 }, () => 'author.name = "a"').join(' || ');
    await expect(keyOf(ada, { filter, get })).rejects.toMatchObject({ code: 'parse_error' });
    await expect(keyOf(admin, { filter, get })).resolves.toContain(filter.slice(0, 6));
  });
});
