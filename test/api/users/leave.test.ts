// What becomes of records that point to a user who is deleted, in all apps of the workspace, and who is told.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { titlesOf, tokenOf, type Watched, watched } from '../../harness/watched.ts';
import { openEvents } from '../realtime/event-client.ts';

let app: Scenario;

beforeAll(async () => {
  app = await scenario();
});

const title = { name: 'title', kind: 'text' };
const owner = (more: Record<string, unknown> = {}) => ({
  name: 'owner',
  kind: 'relation',
  target: 'users',
  ...more,
});

const leave = (user: EndUser) => app.workspace.admin.delete(`${app.workspace.path}/users/${user.id}`);

async function total({ records }: Watched): Promise<number> {
  return expectOk(await app.admin.get(records)).total_items;
}

/** A second app of the workspace, with one collection of notes that go with their owner. */
async function neighbour(): Promise<{ admin: Caller; records: string; events: string }> {
  const { path, admin } = await app.workspace.app();
  const collection = `${path}/collections/notes`;
  const schema = { id: 'notes', fields: [title, owner({ cascade_delete: true })] };
  expectOk(await admin.post(`${path}/collections`, { schema }));
  return { admin, records: `${collection}/records`, events: `${collection}/events` };
}

describe('the deletion of a user', () => {
  it('takes records along and empties others, each as an event of its own', async () => {
    const orders = await watched(app, {}, [title, owner({ cascade_delete: true })]);
    const items = await watched(app, {}, [title, {
      name: 'order',
      kind: 'relation',
      target: orders.name,
      cascade_delete: true,
    }]);
    const tasks = await watched(app, {}, [title, owner()]);
    const [ada, bob] = [await app.user(), await app.user()];
    const order = await orders.create({ title: 'order', owner: ada.id });
    const item = await items.create({ title: 'item', order: order.id });
    const task = await tasks.create({ title: 'task', owner: ada.id });
    const kept = await orders.create({ title: 'kept', owner: bob.id });
    const ask = { token: tokenOf(app.admin) };
    const streams = [await orders.watch(ask), await items.watch(ask), await tasks.watch(ask)] as const;
    expectOk(await leave(ada));
    const told = await Promise.all(streams.map((stream) => stream.count(1)));
    const [goneOrder, goneItem, emptied] = told.flat();
    expect(told.flat()).toHaveLength(3);
    expect(goneOrder).toMatchObject({ event: 'record_deleted', data: order });
    expect(goneItem).toMatchObject({ event: 'record_deleted', data: item });
    expect(emptied).toMatchObject({
      event: 'record_updated',
      data: { id: task.id, fields: { title: 'task', owner: null } },
    });
    const left = expectOk(await app.admin.get(`${tasks.records}/${task.id}`));
    expect(left.updated_at > task.updated_at).toBe(true);
    expect((await app.admin.get(`${orders.records}/${order.id}`)).status).toBe(404);
    expect((await app.admin.get(`${orders.records}/${kept.id}`)).status).toBe(200);
    for (const { socket } of streams) socket.destroy();
  });

  it('does so in every app of the workspace', async () => {
    const here = await watched(app, {}, [title, owner({ cascade_delete: true })]);
    const there = await neighbour();
    const ada = await app.user();
    await here.create({ title: 'here', owner: ada.id });
    expectOk(await there.admin.post(there.records, { title: 'there', owner: ada.id }));
    const port = Number(new URL(serverUrl()).port);
    const streams = [
      await here.watch({ token: tokenOf(app.admin) }),
      await openEvents(port, { path: there.events, token: tokenOf(there.admin) }),
    ];
    expectOk(await leave(ada));
    for (const stream of streams) {
      expect((await stream.count(1))[0]?.event).toBe('record_deleted');
      stream.socket.destroy();
    }
    expect(streams.flatMap(titlesOf)).toEqual(['here', 'there']);
    expect([await total(here), expectOk(await there.admin.get(there.records)).total_items]).toEqual([0, 0]);
  });

  it('is refused as a whole while a record of any app needs the user', async () => {
    const here = await watched(app, {}, [title, owner({ cascade_delete: true })]);
    const needing = await watched(app, {}, [title, owner({ required: true })]);
    const ada = await app.user();
    await here.create({ title: 'stays', owner: ada.id });
    const needs = await needing.create({ title: 'needs', owner: ada.id });
    const stream = await here.watch({ token: tokenOf(app.admin) });
    expectError(await leave(ada), 409, 'conflict');
    expect(await total(here)).toBe(1);
    expect((await ada.get(`${app.workspace.path}/auth/me`)).status).toBe(200);
    await needing.remove(needs.id);
    expectOk(await leave(ada));
    await stream.count(1);
    expect(titlesOf(stream)).toEqual(['stays']);
    stream.socket.destroy();
    const log = `${app.workspace.path}/audit?action=user_delete`;
    const { items } = expectOk(await app.workspace.admin.get(log));
    expect(items.filter(({ target }: { target: string }) => target === ada.email)).toHaveLength(1);
  });

  it('takes its profiles along, and what points to those', async () => {
    const name = `m${randomUUID().slice(0, 8)}`;
    const profile = { id: name, kind: 'auth', fields: [{ name: 'nick', kind: 'text' }] };
    expectOk(await app.admin.post(app.collections, { schema: profile }));
    const notes = await watched(app, { list: 'member.email ~ "%@example.com"' }, [title, {
      name: 'member',
      kind: 'relation',
      target: name,
      cascade_delete: true,
    }]);
    const [ada, bob] = [await app.user(), await app.user()];
    const member = expectOk(
      await app.admin.post(`${app.collections}/${name}/records`, { email: ada.email, nick: 'Ada' }),
    );
    expect(member.id).toBe(ada.id);
    const port = Number(new URL(serverUrl()).port);
    const events = { path: `${app.collections}/${name}/events`, token: tokenOf(app.admin) };
    const streams = [await openEvents(port, events), await notes.watch({ token: tokenOf(bob) })] as const;
    const note = await notes.create({ title: 'note', member: ada.id });
    // Whether Bob may see it is asked of the database, which has to have the member still.
    await streams[1].count(1);
    expectOk(await leave(ada));
    expect((await streams[0].count(1))[0]).toMatchObject({ event: 'record_deleted', data: member });
    expect(await streams[1].count(2)).toMatchObject([
      { event: 'record_created' },
      { event: 'record_deleted', data: note },
    ]);
    for (const { socket } of streams) socket.destroy();
  });

  it('lets those see it whose rule looks at the user, as it was', async () => {
    const orders = await watched(app, { list: 'owner.email ~ "%@example.com"' }, [
      title,
      owner({ cascade_delete: true }),
    ]);
    const [ada, bob] = [await app.user(), await app.user()];
    const order = await orders.create({ title: 'order', owner: ada.id });
    const stream = await orders.watch({ token: tokenOf(bob) });
    expectOk(await leave(ada));
    expect((await stream.count(1))[0]).toMatchObject({ event: 'record_deleted', data: order });
    stream.socket.destroy();
  });

  it('finds nobody of an id that is none, and tells of nothing', async () => {
    for (const id of [randomUUID(), 'nonsense']) {
      expectError(
        await app.workspace.admin.delete(`${app.workspace.path}/users/${id}`),
        404,
        'not_found',
      );
    }
    expect((await as().delete(`${app.workspace.path}/users/${randomUUID()}`)).status).toBe(401);
  });

  it('leaves no record behind that is added while it runs', async () => {
    const orders = await watched(app, {}, [title, owner({ cascade_delete: true })]);
    for (let round = 0; round < 5; round++) {
      const ada = await app.user();
      const adding = Array.from({ length: 10 }, () => app.admin.post(orders.records, { owner: ada.id }));
      const [left, ...added] = await Promise.all([leave(ada), ...adding]);
      expectOk(left);
      for (const { status } of added) expect([201, 400]).toContain(status);
      expect(await total(orders)).toBe(0);
    }
  });
});
