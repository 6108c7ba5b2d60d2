// Policies of a workspace and its apps: set, shown, bounded, cascaded, removed, audited.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';

let own: OwnWorkspace;
let app: OwnApp;
let admin: Caller;

const range = (min: number, max: number) => ({ kind: 'range', min, max });

beforeAll(async () => {
  own = await ownWorkspace();
  app = await own.app();
  admin = own.admin;
});

describe('a built-in field', () => {
  it('shows the server’s own bound while none is set', async () => {
    expect(expectOk(await admin.get(`${own.path}/policies/password.length`))).toEqual({
      field: 'password.length',
      scope: 'workspace',
      spec: null,
      effective: range(8, 256),
      set_by: { min: 'server', max: 'server' },
      updated_at: null,
    });
  });

  it('takes a spec within the bound, and shows the one in effect and its level', async () => {
    const put = expectOk(await admin.put(`${own.path}/policies/password.length`, range(10, 256)));
    expect(put).toEqual({
      field: 'password.length',
      scope: 'workspace',
      spec: range(10, 256),
      effective: range(10, 256),
      set_by: { min: 'workspace', max: 'server' },
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      cascaded: [],
    });
    const { cascaded: _none, ...policy } = put;
    expect(expectOk(await admin.get(`${own.path}/policies/password.length`))).toEqual(policy);
    expect(expectOk(await app.admin.get(`${app.path}/policies/password.length`))).toMatchObject({
      scope: 'app',
      spec: null,
      effective: range(10, 256),
    });
  });

  it('refuses a value outside the bound, naming field, value and bound, and changes nothing', async () => {
    const response = await app.admin.put(`${app.path}/policies/password.length`, range(4, 64));
    expectError(response, 400, 'policy_violation');
    expect(response.body.message).toContain('password.length');
    expect(response.body.message).toContain('range 4 to 64');
    expect(response.body.message).toContain('range 10 to 256');
    expect(expectOk(await app.admin.get(`${app.path}/policies/password.length`)).spec).toBeNull();
  });

  it('takes its own kind only, and whole numbers', async () => {
    const path = `${own.path}/policies/password.length`;
    for (
      const [body, reason] of [
        [{ kind: 'free' }, 'kind: password.length is a range, not a free'],
        [{ kind: 'toggle', state: 'open', default: true }, 'kind: password.length is a range, not a toggle'],
        [range(9.5, 20), 'min: must be a whole number, 0 or more'],
        [range(20, 10), 'max: must not be below min'],
        [{ kind: 'range', min: 9 }, 'max: is required'],
        [{ ...range(9, 20), extra: 1 }, 'extra: unknown field'],
        [{ kind: 'span', min: 1, max: 2 }, 'kind: must be one of range, toggle, enum_set, free'],
        [{ kind: 'range', min: '9', max: 20 }, 'min: must be a number'],
      ] as const
    ) {
      const response = await admin.put(path, body);
      expectError(response, 400, 'validation');
      expect(response.body.message).toBe(reason);
    }
    expectError(
      await admin.put(`${own.path}/policies/auth.methods`, { kind: 'enum_set', allowed: ['sms'] }),
      400,
      'validation',
    );
  });

  it('has its members in the documented order', async () => {
    const specs = {
      'otp.ttl_sec': '{"kind":"range","min":9,"max":20}',
      'password.require_digit': '{"kind":"toggle","state":"open","default":true}',
      'password.require_symbol': '{"kind":"toggle","state":"locked","value":true}',
      'auth.methods': '{"kind":"enum_set","allowed":["password","otp"]}',
      'shop.anything': '{"kind":"free"}',
    };
    for (const [field, spec] of Object.entries(specs)) {
      const path = `${own.path}/policies/${field}`;
      for (const response of [await admin.put(path, JSON.parse(spec)), await admin.get(path)]) {
        expectOk(response);
        expect(response.text).toContain(`"spec":${spec},"effective":${spec}`);
      }
      expectOk(await admin.delete(path));
    }
  });

  it('applies to the next request', async () => {
    const register = (password: string) =>
      admin.post(`${own.path}/auth/users/register`, {
        email: `${crypto.randomUUID()}@example.com`,
        password,
      });
    expectError(await register('nine char'), 400, 'validation');
    expectOk(await admin.put(`${own.path}/policies/password.length`, range(9, 256)));
    expectOk(await register('nine char'));
    const upper = { kind: 'toggle', state: 'locked', value: true };
    expectOk(await admin.put(`${own.path}/policies/password.require_upper`, upper));
    expectError(await register('nine char'), 400, 'validation');
    expectOk(await admin.delete(`${own.path}/policies/password.require_upper`));
    expectOk(await register('nine char'));
  });
});

describe('ways to log in and lives of tokens', () => {
  it('are bounded by the workspace, and by the app for tokens asked with it', async () => {
    const { email, password } = {
      email: `${crypto.randomUUID()}@example.com`,
      password: 'a password of mine',
    };
    expectOk(await admin.post(`${own.path}/auth/users/register`, { email, password }));
    const login = (body: object) => admin.post(`${own.path}/auth/users/login`, { email, password, ...body });
    const lifeOf = (token: string) => {
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
      return exp - iat;
    };
    expectOk(await admin.put(`${own.path}/policies/tokens.access_ttl_sec`, range(1, 600)));
    expectOk(await app.admin.put(`${app.path}/policies/tokens.access_ttl_sec`, range(1, 60)));
    expect(lifeOf(expectOk(await login({})).access_token)).toBe(600);
    expect(lifeOf(expectOk(await login({ app: app.id })).access_token)).toBe(60);

    expectOk(
      await app.admin.put(`${app.path}/policies/auth.methods`, { kind: 'enum_set', allowed: ['otp'] }),
    );
    expectOk(await login({}));
    expectError(await login({ app: app.id }), 403, 'forbidden');
    expectOk(await app.admin.delete(`${app.path}/policies/auth.methods`));
    expectOk(await login({ app: app.id }));
  });
});

describe('a field of the apps’ own', () => {
  const field = 'shop.discount';

  it('is 404 until it is set', async () => {
    expectError(await admin.get(`${own.path}/policies/${field}`), 404, 'not_found');
    expectError(await admin.delete(`${own.path}/policies/${field}`), 404, 'not_found');
  });

  it('needs a name in two parts', async () => {
    for (const name of ['discount', 'Shop.discount', 'shop.', 'shop..x', 'shop.discount%20']) {
      expectError(await admin.put(`${own.path}/policies/${name}`, { kind: 'free' }), 400, 'validation');
    }
  });

  it('clamps the app below, lists that, and is audited with the old and the new spec', async () => {
    expectOk(await app.admin.put(`${app.path}/policies/${field}`, range(0, 50)));
    const put = expectOk(await admin.put(`${own.path}/policies/${field}`, range(5, 20)));
    expect(put.cascaded).toEqual([
      { scope: 'app', workspace: own.id, app: app.id, field, from: range(0, 50), to: range(5, 20) },
    ]);
    expect(expectOk(await app.admin.get(`${app.path}/policies/${field}`))).toMatchObject({
      spec: range(5, 20),
      effective: range(5, 20),
    });
    const log = expectOk(await admin.get(`${own.path}/audit?action=policy_set&per_page=1`)).items[0];
    expect(log).toMatchObject({
      action: 'policy_set',
      target: field,
      details: { from: null, to: range(5, 20), cascaded: put.cascaded },
    });
    const appLog = expectOk(await app.admin.get(`${app.path}/audit?action=policy_set`)).items;
    expect(appLog.map(({ target }: { target: string }) => target)).toContain(field);
  });

  it('is audited at its level when it is removed, with the old spec', async () => {
    for (const [caller, path] of [[admin, own.path], [app.admin, app.path]] as const) {
      expectOk(await caller.put(`${path}/policies/shop.hours`, range(8, 18)));
      expectOk(await caller.delete(`${path}/policies/shop.hours`));
      const [entry] = expectOk(await caller.get(`${path}/audit?action=policy_delete&per_page=1`)).items;
      expect(entry).toMatchObject({ target: 'shop.hours', details: { from: range(8, 18), to: null } });
    }
  });

  it('lies within the level above also when both are set at once', async () => {
    const [above, below] = [`${own.path}/policies/team.pace`, `${app.path}/policies/team.pace`];
    for (let round = 0; round < 10; round++) {
      const responses = await Promise.all([admin.put(above, range(1, 5)), app.admin.put(below, range(1, 9))]);
      expect(responses.map(({ status }) => status)).toEqual([200, expect.toBeOneOf([200, 400])]);
      const { spec } = expectOk(await app.admin.get(below));
      expect(spec).toEqual(responses[1].status === 200 ? range(1, 5) : null);
      if (spec !== null) expectOk(await app.admin.delete(below));
      expectOk(await admin.delete(above));
    }
  });

  it('takes another kind below a free parent only', async () => {
    expectOk(await admin.put(`${own.path}/policies/${field}`, { kind: 'free' }));
    expectOk(
      await app.admin.put(`${app.path}/policies/${field}`, { kind: 'enum_set', allowed: ['a', 'b', 'a'] }),
    );
    const tightened = expectOk(
      await admin.put(`${own.path}/policies/${field}`, { kind: 'enum_set', allowed: ['b'] }),
    );
    expect(tightened.cascaded[0].to).toEqual({ kind: 'enum_set', allowed: ['b'] });
    expectError(
      await app.admin.put(`${app.path}/policies/${field}`, { kind: 'free' }),
      400,
      'policy_violation',
    );
  });

  it('is listed with the built-in ones, by name, in pages', async () => {
    const all = expectOk(await admin.get(`${own.path}/policies?per_page=200`));
    const names = all.items.map((policy: { field: string }) => policy.field);
    expect(names).toEqual(names.toSorted());
    expect(names).toContain(field);
    expect(names).toContain('hooks.egress');
    expect(all.total_items).toBe(names.length);
    const second = expectOk(await admin.get(`${own.path}/policies?per_page=5&page=2`));
    expect(second.items.map((policy: { field: string }) => policy.field)).toEqual(names.slice(5, 10));
  });

  it('is deleted with its app', async () => {
    const other = await own.app();
    expectOk(await other.admin.put(`${other.path}/policies/${field}`, { kind: 'enum_set', allowed: ['b'] }));
    expectOk(await admin.delete(other.path));
    expectOk(await admin.post(`${own.path}/apps`, { id: other.id, name: 'Again' }));
    expect(expectOk(await admin.get(`${other.path}/policies/${field}`)).spec).toBeNull();
  });
});

it('the policies of a workspace and its apps take up 4 MiB at most, in each workspace', async () => {
  const [own, other] = [await ownWorkspace(), await ownWorkspace()];
  const app = await own.app();
  const words = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(255, '0'));
  const list = { kind: 'enum_set', allowed: words };
  for (let n = 0; n < 16; n++) expectOk(await own.admin.put(`${own.path}/policies/words.w${n}`, list));
  const refused = await app.admin.put(`${app.path}/policies/words.own`, list);
  expectError(refused, 400, 'validation');
  expect(refused.body.message).toContain('4194304 bytes');
  expectOk(await other.admin.put(`${other.path}/policies/words.w0`, list));
  expectOk(await app.admin.put(`${app.path}/policies/words.own`, { kind: 'range', min: 0, max: 1 }));
  expectOk(await own.admin.delete(`${own.path}/policies/words.w0`));
  expectOk(await app.admin.put(`${app.path}/policies/words.other`, list));
});
