// Keys and records: a key for some collections reads no others, whichever way it asks.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type Scenario, scenario, title, titlesOf } from '../../../harness/scenario.ts';
import { openSocket } from '../../realtime/socket-client.ts';
import { openEvents } from '../../realtime/event-client.ts';

let app: Scenario;
let posts: string;
let secrets: string;
let secretId: string;
let postId: string;
let narrow: Caller;
const port = () => Number(new URL(serverUrl()).port);

beforeAll(async () => {
  app = await scenario();
  secrets = await app.define('secrets', [title]);
  posts = await app.define('posts', [title, { name: 'secret', kind: 'relation', target: 'secrets' }]);
  secretId = expectOk(await app.admin.post(secrets, { title: 'hidden' })).id;
  postId = expectOk(await app.admin.post(posts, { title: 'shown', secret: secretId })).id;
  narrow = await key(['records:read@posts', 'records:write@posts']);
});

async function key(scopes: readonly string[]): Promise<Caller> {
  return as(expectOk(await app.admin.post(`${app.app.path}/keys`, { name: 'a key', scopes })).secret);
}

describe('a key for one collection', () => {
  it('reads and writes its records', async () => {
    expect(titlesOf(await narrow.get(posts))).toEqual(['shown']);
    const made = expectOk(await narrow.post(posts, { title: 'new', secret: secretId }));
    expectOk(await narrow.patch(`${posts}/${made.id}`, { title: 'changed' }));
    expectOk(await narrow.delete(`${posts}/${made.id}`));
  });

  it('reaches no other collection', async () => {
    const statuses = [
      await narrow.get(secrets),
      await narrow.get(`${secrets}/${secretId}`),
      await narrow.get(`${secrets}/aggregate?fn=count`),
      await narrow.get(`${secrets}/export`),
      await narrow.post(secrets, { title: 'x' }),
      await narrow.patch(`${secrets}/${secretId}`, { title: 'x' }),
      await narrow.delete(`${secrets}/${secretId}`),
      await narrow.get(`${app.collections}/users/records`),
      await narrow.get(`${app.collections}/secrets/events`),
    ];
    expect(statuses.map(({ status }) => status)).toEqual(statuses.map(() => 403));
    const batch = await narrow.post(`${app.app.path}/batch`, {
      requests: [
        { method: 'POST', collection: 'posts', body: { title: 'rolled back' } },
        { method: 'PATCH', collection: 'secrets', id: secretId, body: { title: 'x' } },
      ],
    });
    expectError(batch, 403, 'forbidden');
    expect(titlesOf(await app.admin.get(secrets))).toEqual(['hidden']);
    expect(titlesOf(await app.admin.get(posts))).toEqual(['shown']);
  });

  it('sees nothing of others through a relation', async () => {
    const expanded = await narrow.get(`${posts}?expand=secret`);
    expect(expanded.text).not.toContain('hidden');
    const one = await narrow.get(`${posts}/${postId}?expand=secret`);
    expect(one.text).not.toContain('hidden');
    const filter = encodeURIComponent("secret.title = 'hidden'");
    // Also when an admin has asked the same before, whose total is cached.
    expect(expectOk(await app.admin.get(`${posts}?filter=${filter}`)).total_items).toBe(1);
    for (const path of [posts, `${posts}/export`]) {
      expect((await narrow.get(`${path}?filter=${filter}`)).status).toBe(403);
    }
    expect((await narrow.get(`${posts}/aggregate?fn=count&filter=${filter}`)).status).toBe(403);
    const backwards = encodeURIComponent("@collection.secrets(title ~ 'hid')");
    expect((await narrow.get(`${posts}?filter=${backwards}`)).status).toBe(403);
    expect((await narrow.get(`${posts}?filter=${encodeURIComponent('secret != null')}`)).status).toBe(200);
  });

  it('follows its own stream only, over SSE and WebSocket', async () => {
    const token = narrow.token ?? '';
    const events = await openEvents(port(), { path: `${app.collections}/posts/events`, token });
    const socket = await openSocket(port(), { authorization: `Bearer ${token}` }, `${app.app.path}/realtime`);
    socket.say({ type: 'subscribe', id: 'p', collection: 'posts' });
    socket.say({ type: 'subscribe', id: 's', collection: 'secrets' });
    socket.say({ type: 'subscribe', id: 'f', collection: 'posts', filter: "secret.title = 'hidden'" });
    const told = await socket.count(3);
    expect(told.map(({ type, id }) => [type, id]).sort()).toEqual([
      ['error', 'f'],
      ['error', 's'],
      ['subscribed', 'p'],
    ]);
    expectOk(await app.admin.post(secrets, { title: 'hidden, too' }));
    const made = expectOk(await app.admin.post(posts, { title: 'live' }));
    await socket.count(4);
    await events.count(1);
    expect(JSON.stringify(socket.told)).not.toContain('hidden, too');
    expectOk(await app.admin.delete(`${posts}/${made.id}`));
    socket.socket.close();
    events.socket.destroy();
  });
});

describe('a key that only writes', () => {
  it('reads nothing but what it has written', async () => {
    const writer = await key(['records:write']);
    expect((await writer.get(posts)).status).toBe(403);
    const made = expectOk(await writer.post(`${posts}?expand=secret`, { title: 'w', secret: secretId }));
    expect(made.fields.title).toBe('w');
    expect(JSON.stringify(made)).not.toContain('hidden');
    expectOk(await writer.delete(`${posts}/${made.id}`));
  });
});

describe('a key without the scopes of files', () => {
  it('neither gets links to the files of records, nor sends files by form', async () => {
    const scans = await app.define('scans', [title, { name: 'scan', kind: 'file' }]);
    const form = (by: Caller) => {
      const body = new FormData();
      body.set('title', 'a scan');
      body.set('scan', new File(['bytes'], 'scan.txt', { type: 'text/plain' }));
      const headers = { Authorization: `Bearer ${by.token}` };
      return fetch(`${serverUrl()}${scans}`, { method: 'POST', headers, body });
    };
    const [records, all] = [
      await key(['records:read', 'records:write']),
      await key(['records:read', 'records:write', 'files:read', 'files:write']),
    ];
    expect((await form(records)).status).toBe(403);
    expect((await form(all)).status).toBe(201);
    const expanded = async (by: Caller) =>
      expectOk(await by.get(`${scans}?expand=scan`)).items.map(({ expand }: { expand: unknown }) => expand);
    expect(await expanded(records)).toEqual([{ scan: null }]);
    expect(await expanded(all)).toEqual([{ scan: expect.objectContaining({ filename: 'scan.txt' }) }]);
  });
});

describe('a key with all records', () => {
  it('follows relations as an admin does', async () => {
    const reader = await key(['records:read']);
    const filter = encodeURIComponent("secret.title = 'hidden'");
    const { items } = expectOk(await reader.get(`${posts}?filter=${filter}&expand=secret`));
    expect(items[0].expand.secret.fields.title).toBe('hidden');
    expect((await reader.post(posts, { title: 'x' })).status).toBe(403);
  });

  it('is known to hooks by its id, its role and its maker', async () => {
    const caller = await key(['custom:call']);
    const source = "routerAdd('GET', '/whoami', (e) => e.auth);";
    expectOk(await app.admin.put(`${app.app.path}/hooks/whoami.js`, { source }));
    const { id } = expectOk(await caller.get(`${app.workspace.path}/auth/me`));
    expect(expectOk(await caller.get(`${app.app.path}/custom/whoami`))).toMatchObject({
      id,
      role: 'api_key',
      workspace: app.workspace.id,
      app: app.app.id,
      maker: { role: 'app_admin' },
    });
    expect((await caller.get(posts)).status).toBe(403);
  });
});
