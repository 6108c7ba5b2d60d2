// Policies of the master: on a server of their own, since they apply to all tenants.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { logInMaster, setUp } from '../../harness/set-up.ts';

let server: TestServer;
let root: Caller;

const password = '1 password of the master';
const range = (min: number, max: number) => ({ kind: 'range', min, max });
const set = (...allowed: string[]) => ({ kind: 'enum_set', allowed });

beforeAll(async () => {
  server = await startServer({ config: { 'rate_limit.enabled': false, api: { workers: 2 } } });
  root = await setUp(server.url);
  for (const id of ['one', 'two']) {
    expectOk(await root.post('/api/workspaces', { id, name: id }));
    expectOk(await root.post(`/api/workspaces/${id}/apps`, { id: 'shop', name: 'Shop' }));
  }
});
afterAll(() => server.stop());

const system = (field: string) => `/api/system/policies/${field}`;
const workspace = (id: string, field: string) => `/api/workspaces/${id}/policies/${field}`;
const app = (id: string, field: string) => `/api/workspaces/${id}/apps/shop/policies/${field}`;

describe('a policy of the master', () => {
  it('takes the place of the server’s own bound, also beyond it', async () => {
    expectError(
      await root.put(workspace('one', 'storage.max_upload_mb'), range(0, 50)),
      400,
      'policy_violation',
    );
    expectOk(await root.put(system('storage.max_upload_mb'), range(0, 100)));
    const put = expectOk(await root.put(workspace('one', 'storage.max_upload_mb'), range(0, 50)));
    expect(put).toMatchObject({ effective: range(0, 50), set_by: { min: 'system', max: 'workspace' } });
  });

  it('refuses a range below 0 for a built-in field', async () => {
    for (const [min, max, name] of [[-1, 9, 'min'], [-9, -1, 'max']] as const) {
      const response = await root.put(system('otp.ttl_sec'), range(min, max));
      expectError(response, 400, 'validation');
      expect(response.body.message).toContain(`${name}: must be a whole number, 0 or more`);
    }
  });

  it('clamps workspaces and apps when it is tightened and when it is removed, parents first', async () => {
    expectOk(await root.put(workspace('two', 'storage.max_upload_mb'), range(20, 80)));
    expectOk(await root.put(app('two', 'storage.max_upload_mb'), range(60, 70)));
    const tightened = expectOk(await root.put(system('storage.max_upload_mb'), range(0, 40)));
    expect(tightened.cascaded).toEqual([
      {
        scope: 'workspace',
        workspace: 'one',
        app: null,
        field: 'storage.max_upload_mb',
        from: range(0, 50),
        to: range(0, 40),
      },
      {
        scope: 'workspace',
        workspace: 'two',
        app: null,
        field: 'storage.max_upload_mb',
        from: range(20, 80),
        to: range(20, 40),
      },
      {
        scope: 'app',
        workspace: 'two',
        app: 'shop',
        field: 'storage.max_upload_mb',
        from: range(60, 70),
        to: range(40, 40),
      },
    ]);
    expectOk(await root.delete(system('storage.max_upload_mb')));
    expect(expectOk(await root.get(app('two', 'storage.max_upload_mb')))).toMatchObject({
      spec: range(10, 10),
      effective: range(10, 10),
    });
    const [entry] = expectOk(await root.get('/api/system/audit?action=policy_delete')).items;
    expect(entry).toMatchObject({
      actor: 'admin',
      target: 'storage.max_upload_mb',
      details: { from: range(0, 40) },
    });
    expect(entry.details.cascaded).toHaveLength(3);
    expectError(await root.delete(system('storage.max_upload_mb')), 404, 'not_found');
  });

  it('bounds the hosts that levels below may open for hooks', async () => {
    expectError(
      await root.put(workspace('one', 'hooks.egress'), set('api.example.com')),
      400,
      'policy_violation',
    );
    expectOk(await root.put(system('hooks.egress'), set('api.example.com', 'api.example.org:8443')));
    expect(expectOk(await root.get(app('one', 'hooks.egress'))).effective).toEqual(
      set('api.example.com', 'api.example.org:8443'),
    );
    for (
      const wrong of ['https://api.example.com', 'api.example.com:0', 'api.example.com:65536', 'a:99999']
    ) {
      const response = await root.put(system('hooks.egress'), set(wrong));
      expectError(response, 400, 'validation');
      expect(response.body.message).toContain('a port from 1 to 65535');
    }
    for (const right of ['a:1', 'a:9', 'a:10000', 'a:59999', '[::1]:65535']) {
      expectOk(await root.put(system('hooks.egress'), set(right)));
    }
  });

  it('locks a toggle for all levels below', async () => {
    const locked = { kind: 'toggle', state: 'locked', value: true };
    expectOk(
      await root.put(workspace('one', 'password.require_digit'), {
        kind: 'toggle',
        state: 'open',
        default: false,
      }),
    );
    const put = expectOk(await root.put(system('password.require_digit'), locked));
    expect(put.cascaded).toEqual([{
      scope: 'workspace',
      workspace: 'one',
      app: null,
      field: 'password.require_digit',
      from: { kind: 'toggle', state: 'open', default: false },
      to: locked,
    }]);
    expectError(
      await root.put(workspace('two', 'password.require_digit'), {
        kind: 'toggle',
        state: 'locked',
        value: false,
      }),
      400,
      'policy_violation',
    );
    const register = (text: string) =>
      as(undefined, server.url).post('/api/workspaces/two/auth/users/register', {
        email: `${randomUUID()}@example.com`,
        password: text,
      });
    expectError(await register('no digits here'), 400, 'validation');
    expectOk(await register('1 digit here'));
  });

  it('is in effect in every process within 300 ms', async () => {
    const path = workspace('one', 'tokens.refresh_ttl_sec');
    // Each request has a connection of its own, so both processes answer some of them.
    const read = async () => {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => root.get(path, { Connection: 'close' })),
      );
      return new Set(responses.map((response) => expectOk(response).effective.max));
    };
    await read();
    expectOk(await root.put(system('tokens.refresh_ttl_sec'), range(1, 1_000)));
    const deadline = performance.now() + 2_000;
    let seen = await read();
    while (seen.size !== 1 || !seen.has(1_000)) {
      if (performance.now() > deadline) throw new Error(`some process still says ${[...seen]}`);
      seen = await read();
    }
  });

  it('cannot make the master’s own tokens outlive what revocations are kept for', async () => {
    expectOk(await root.put(system('tokens.access_ttl_sec'), range(200_000, 300_000)));
    const { token = '' } = await logInMaster(server.url);
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    expect(exp - iat).toBe(86_400);
    expectOk(await root.delete(system('tokens.access_ttl_sec')));
  });

  it('locks nobody out, however short or long the lives that it sets', async () => {
    const forever = range(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    expectOk(await root.put(system('tokens.access_ttl_sec'), range(0, 0)));
    for (const field of ['tokens.refresh_ttl_sec', 'otp.ttl_sec']) {
      expectOk(await root.put(system(field), forever));
    }
    const { token = '' } = await logInMaster(server.url);
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    expect(exp - iat).toBe(1);
    const email = `${randomUUID()}@example.com`;
    expectOk(await as(undefined, server.url).post('/api/workspaces/two/auth/otp/request', { email }));
    for (const field of ['tokens.access_ttl_sec', 'tokens.refresh_ttl_sec', 'otp.ttl_sec']) {
      expectOk(await root.delete(system(field)));
    }
  });

  it('may be read by the admins below, one at a time', async () => {
    const email = `${randomUUID()}@example.com`;
    expectOk(
      await root.post('/api/workspaces/one/admins', { email, password, name: 'W', app_ids: ['shop'] }),
    );
    const session = await as(undefined, server.url).post('/api/workspaces/one/auth/admin/login', {
      email,
      password,
    });
    const admin = as(expectOk(session).access_token, server.url);
    expectOk(await admin.get(system('password.length')));
    expectOk(await admin.get(workspace('one', 'password.length')));
    expectError(await admin.get('/api/system/policies'), 403, 'forbidden');
    expectError(await admin.get('/api/workspaces/one/policies'), 403, 'forbidden');
    expectError(await admin.get(workspace('two', 'password.length')), 403, 'forbidden');
  });
});
