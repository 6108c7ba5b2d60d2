// The order of checks (docs/reference/order-of-checks.md): requests that are wrong in two ways at once.
import { beforeAll, describe, it } from 'vitest';
import { as, type Caller, type OwnWorkspace, ownWorkspace, send, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const overCap = 8_388_609;
let own: OwnWorkspace;
let other: OwnWorkspace;
let appPath: string;
let appAdmin: Caller;

beforeAll(async () => {
  [own, other] = await Promise.all([ownWorkspace(), ownWorkspace()]);
  const app = await own.app();
  appPath = app.path;
  appAdmin = app.admin;
});

const broken = { Authorization: 'Bearer nonsense' };

async function announce(method: string, path: string, headers: Record<string, string> = {}) {
  const lines = Object.entries({ Host: 'x', 'Content-Length': String(overCap), ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const response = await sendRaw(serverUrl(), `${method} ${path} HTTP/1.1\r\n${lines}\r\n`, '"}');
  return { ...response, text: response.body };
}

// The rate limit and the setup gate, which come first, are tested in pipeline-gate.test.ts.
describe('route and method come before', () => {
  it('the length of the body', async () => {
    expectError(await announce('POST', '/nope'), 404, 'not_found');
    expectError(await announce('PUT', '/api/workspaces'), 405, 'method_not_allowed');
  });

  it('a bad token', async () => {
    expectError(await as().get('/nope', broken), 404, 'not_found');
    expectError(await as().delete('/api/workspaces', broken), 405, 'method_not_allowed');
  });
});

describe('the announced length comes before', () => {
  it('a missing token', async () => {
    expectError(await announce('POST', '/api/workspaces'), 413, 'payload_too_large');
  });

  it('a bad token', async () => {
    expectError(await announce('POST', '/api/workspaces', broken), 413, 'payload_too_large');
  });
});

describe('authentication comes before', () => {
  it('authorization', async () => {
    expectError(await as().post('/api/workspaces', {}, broken), 401, 'unauthorized');
  });

  it('existence', async () => {
    expectError(await as().get('/api/workspaces/ghost'), 401, 'unauthorized');
    expectError(await as().get('/api/workspaces/ghost/apps/ghost/collections', broken), 401, 'unauthorized');
  });

  it('the body', async () => {
    const response = await send(`${serverUrl()}/api/workspaces`, { method: 'POST', body: 'no json' });
    expectError(response, 401, 'unauthorized');
  });

  it('the query', async () => {
    expectError(await as().get('/api/workspaces?page=0'), 401, 'unauthorized');
  });
});

describe('authorization comes before', () => {
  it('existence: a principal of one workspace learns nothing of another', async () => {
    for (const id of ['ghost', other.id]) {
      expectError(await own.admin.get(`/api/workspaces/${id}`), 403, 'forbidden');
      expectError(await own.admin.get(`/api/workspaces/${id}/apps/ghost`), 403, 'forbidden');
    }
    expectError(await appAdmin.get(`${own.path}/apps/ghost/collections`), 403, 'forbidden');
  });

  it('the body', async () => {
    expectError(await own.admin.post('/api/workspaces', 'no json'), 403, 'forbidden');
    expectError(await own.admin.post(`${other.path}/apps`, { id: '!' }), 403, 'forbidden');
    expectError(await appAdmin.post(`${own.path}/apps`, {}), 403, 'forbidden');
  });

  it('the query', async () => {
    expectError(await own.admin.get('/api/system/audit?page=0'), 403, 'forbidden');
  });
});

describe('existence comes before', () => {
  it('the body', async () => {
    expectError(await own.master.patch('/api/workspaces/ghost', 'no json'), 404, 'workspace_not_found');
    expectError(await own.admin.patch(`${own.path}/apps/ghost`, {}), 404, 'app_not_found');
    expectError(await appAdmin.post(`${appPath}/collections/ghost/records`, 'no json'), 404, 'not_found');
  });

  it.each([
    ['PATCH', 'app', '/collections/notes/records/'],
    ['PATCH', 'workspace', '/users/', '/verify'],
    ['PATCH', 'workspace', '/admins/'],
    ['POST', 'app', '/files/', '/link'],
    ['PUT', 'app', '/collections/notes/access_rules/'],
  ])('the body of what the path names: %s of %s%s…', async (method, of, before, after = '') => {
    const schema = { id: 'notes', fields: [{ name: 'title', kind: 'text' }] };
    if (before.startsWith('/collections')) await appAdmin.post(`${appPath}/collections`, { schema });
    const base = `${of === 'app' ? appPath : own.path}${before}`;
    for (const id of ['01890a5d-ac96-774b-bcce-b302099a8057', 'ghost']) {
      for (const body of ['no json', '', '{"nope":1}', '[]']) {
        if (body === '' && after === '/link') continue; // an empty one is right there
        const headers = { Authorization: `Bearer ${own.master.token}` };
        const response = await send(`${serverUrl()}${base}${id}${after}`, { method, body, headers });
        expectError(response, 404, 'not_found');
      }
    }
  });

  it('the query', async () => {
    expectError(await own.admin.get(`${own.path}/apps/ghost/audit?page=0`), 404, 'app_not_found');
  });

  it('the body on routes that need no token: there everyone may know', async () => {
    expectError(await as().post('/api/workspaces/ghost/auth/admin/login', {}), 404, 'workspace_not_found');
  });

  it('the app, when both are missing', async () => {
    expectError(await own.master.get('/api/workspaces/ghost/apps/ghost'), 404, 'workspace_not_found');
  });

  it('the collection, when the app is missing too', async () => {
    expectError(await own.admin.get(`${own.path}/apps/ghost/collections/ghost`), 404, 'app_not_found');
  });
});

describe('within the body', () => {
  it('its type comes before its syntax, syntax before members', async () => {
    const login = `${serverUrl()}/_/auth/admin/login`;
    const typed = (type: string, body: string) =>
      send(login, { method: 'POST', body, headers: { 'Content-Type': type } });
    expectError(await typed('text/plain', 'no json'), 422, 'deserialization');
    expectError(await typed('application/json', '{"nope":1'), 422, 'deserialization');
    expectError(await typed('application/json', '{"nope":1}'), 400, 'validation');
  });
});

describe('login and refresh', () => {
  it('ignore a bad token', async () => {
    expectError(await as().post('/_/auth/admin/login', {}, broken), 400, 'validation');
    expectError(await as().post(`${own.path}/auth/admin/login`, {}, broken), 400, 'validation');
    expectError(await as().post('/_/auth/refresh', { refresh_token: 5 }, broken), 400, 'validation');
    expectError(await as().post(`${own.path}/auth/refresh`, {}, broken), 400, 'validation');
  });
});
