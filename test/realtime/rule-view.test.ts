// What views are, and what tells them apart.
import { describe, expect, it } from 'vitest';
import { viewOf } from '../../api/realtime/rule-view.ts';
import { admit, sightOf } from '../../api/rules/access.ts';
import type { CollectionDefinition } from '../../storage/definition.ts';

const instant = new Date('2026-01-02T03:04:05.678Z');
const times = { created_at: instant, updated_at: instant };

function targetWith(filter: string, created_at = instant) {
  const list = { template: 'filter' as const, filter };
  const collection: CollectionDefinition = {
    id: 'posts',
    kind: 'base',
    fields: [],
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
  return viewOf(target, access, { filter: '', now, reader: { read: unasked }, version: 1 });
}

describe('a view', () => {
  it('of a rule about the time alone asks it again for every event', async () => {
    let now = instant;
    const view = await openView(targetWith('@now < "2026-01-02T03:04:06Z"'), () => now);
    const stamp = instant.toISOString();
    const record = { id: 'x', collection: 'posts', fields: {}, created_at: stamp, updated_at: stamp };
    const passes = () => view.passes({ type: 'record_created', record }, () => undefined);
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
  const isSeen = (at: number) => sightOf(access, target.app)?.('posts', { record }, at);
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
    sightOf(access, target.app)?.('users', {
      record: { id, fields: {}, created_at: stamp, updated_at: stamp },
    }, 0);
  expect(sees(id)).toBe(true);
  expect(sees('0198a2b4-1111-7222-8333-abcdefabcdee')).toBe(false);
});
