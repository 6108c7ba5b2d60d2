// Requests that are under way while what their path names is deleted.
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
  serverUrl,
} from '../harness/api.ts';

let own: OwnWorkspace;
beforeAll(async () => {
  own = await ownWorkspace();
});

interface Late {
  method: string;
  path: string;
  body: unknown;
}

/** Begins a request, does something else once the server has admitted it, and only then sends its body. */
async function sendLate({ token }: Caller, { method, path, body }: Late, meanwhile: () => Promise<void>) {
  const outgoing = request(serverUrl() + path, {
    method,
    headers: {
      'Authorization': `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Expect': '100-continue',
    },
  });
  outgoing.flushHeaders();
  const answered: Promise<Awaited<ReturnType<typeof once>>> = once(outgoing, 'response');
  await once(outgoing, 'continue');
  await meanwhile();
  outgoing.end(JSON.stringify(body));
  const [incoming] = await answered;
  return { status: incoming.statusCode, body: JSON.parse(await text(incoming)) };
}

async function appWithPosts(): Promise<OwnApp> {
  const app = await own.app();
  const schema = { id: 'posts', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
  return app;
}

const writes = [
  ['a record', 'POST', '/collections/posts/records', { title: 'late' }],
  ['a batch', 'POST', '/batch', { requests: [{ method: 'POST', collection: 'posts', body: {} }] }],
  ['a collection', 'POST', '/collections', { schema: { id: 'late', kind: 'base', fields: [] } }],
  ['a rule', 'PUT', '/collections/posts/access_rules/list', { template: 'any' }],
  ['a policy', 'PUT', '/policies/late.thing', { kind: 'free' }],
  ['a hook file', 'PUT', '/hooks/late.ts', { source: '' }],
  ['a value of hooks', 'PUT', '/hooks/env/LATE', { value: 'late' }],
] as const;

describe('when its app is deleted before its body has come', () => {
  it.each(writes)('%s gets 404 app_not_found', async (_what, method, path, body) => {
    const app = await appWithPosts();
    const late = { method, path: app.path + path, body };
    const response = await sendLate(app.admin, late, async () => {
      expectOk(await own.admin.delete(app.path));
    });
    expect(response).toEqual({
      status: 404,
      body: { code: 'app_not_found', message: `app "${app.id}" does not exist` },
    });
  });

  it('nothing comes of it in a later app of the same id', async () => {
    const app = await appWithPosts();
    const late = { method: 'PUT', path: `${app.path}/policies/late.thing`, body: { kind: 'free' } };
    const response = await sendLate(own.master, late, async () => {
      expectOk(await own.admin.delete(app.path));
      expectOk(await own.admin.post(`${own.path}/apps`, { id: app.id, name: 'Another' }));
    });
    expect(response).toMatchObject({ status: 404, body: { code: 'app_not_found' } });
    expect((await own.master.get(`${app.path}/policies/late.thing`)).status).toBe(404);
  });

  it('a name is not given to a later app of the same id', async () => {
    const { id, path } = await own.app();
    const response = await sendLate(
      own.master,
      { method: 'PATCH', path, body: { name: 'Late' } },
      async () => {
        expectOk(await own.admin.delete(path));
        expectOk(await own.admin.post(`${own.path}/apps`, { id, name: 'Another' }));
      },
    );
    expect(response).toMatchObject({ status: 404, body: { code: 'app_not_found' } });
    expect(expectOk(await own.admin.get(path)).name).toBe('Another');
  });
});

it('gets 404 when the workspace is deleted before the body has come', async () => {
  const other = await ownWorkspace();
  const late = { method: 'PUT', path: `${other.path}/policies/late.thing`, body: { kind: 'free' } };
  const response = await sendLate(other.master, late, async () => {
    expectOk(await other.master.delete(other.path));
  });
  expect(response).toEqual({
    status: 404,
    body: { code: 'workspace_not_found', message: `workspace "${other.id}" does not exist` },
  });
});

describe('when its workspace is deleted and another one made of the same id before its body has come', () => {
  const admin = { email: 'late@example.com', password: 'a password of the test', name: '', app_ids: [] };
  it.each([
    ['a name', 'PATCH', '', { name: 'Late' }],
    ['an admin', 'POST', '/admins', admin],
    ['an app', 'POST', '/apps', { id: 'late', name: 'Late' }],
    ['a policy', 'PUT', '/policies/late.thing', { kind: 'free' }],
  ])('%s is not that of the later one', async (_what, method, path, body) => {
    const other = await ownWorkspace();
    const { master } = other;
    const late = { method, path: other.path + path, body };
    const response = await sendLate(master, late, async () => {
      expectOk(await master.delete(other.path));
      expectOk(await master.post('/api/workspaces', { id: other.id, name: 'Another' }));
    });
    expect(response).toMatchObject({ status: 404, body: { code: 'workspace_not_found' } });
    expect(expectOk(await master.get(other.path)).name).toBe('Another');
    for (const list of ['admins', 'apps', 'policies']) {
      const { items } = expectOk(await master.get(`${other.path}/${list}`));
      expect(JSON.stringify(items)).not.toContain('late');
    }
  });
});

it('is done or gets 404, whatever it is, beside the deletion of its app', async () => {
  for (let round = 0; round < 4; round++) {
    const app = await appWithPosts();
    const posts = `${app.path}/collections/posts/records`;
    const tasks = [
      () => own.master.post(posts, { title: 'one more' }),
      () => own.master.get(`${posts}?filter=title='x'`),
      () => own.master.put(`${app.path}/policies/my.own`, { kind: 'free' }),
      () => own.master.put(`${app.path}/collections/posts/access_rules/list`, { template: 'any' }),
      () => own.master.get(`${app.path}/files`),
      () => own.master.get(`${app.path}/audit`),
      () => own.master.get(`${app.path}/usage`),
      () => own.master.put(`${app.path}/hooks/env/A`, { value: 'a' }),
    ];
    const others: string[] = [];
    // Each is sent again and again, until it gets 404.
    const streams = tasks.map(async (task) => {
      for (let asked = 0; asked < 1_000; asked++) {
        const { status, text } = await task();
        if (status === 404 && text.includes('app_not_found')) return;
        if (status >= 400) others.push(`${status} ${text}`);
      }
      others.push('never gone');
    });
    expectOk(await own.master.get(posts));
    expectOk(await own.admin.delete(app.path));
    await Promise.all(streams);
    expect(others).toEqual([]);
  }
});
