// What a key of one scope may do: every endpoint, asked by a key of the server for each scope alone.
import { beforeAll, describe, expect, it } from 'vitest';
import { keyScopes } from '../../../../api/contract/key-scopes.ts';
import { additions, type Endpoint, specified } from '../../../contract/endpoints.ts';
import { filledPath } from '../../../contract/filled-path.ts';
import { as, expectOk, type OwnWorkspace, ownWorkspace, send, serverUrl } from '../../../harness/api.ts';

/** Written down by hand: the first pattern that matches `METHOD path` names the scope. The declarations have no say here. */
const scopeOf: readonly (readonly [RegExp, string])[] = [
  [/^GET .*\/(records(\/.*)?|events|realtime)$/, 'records:read'],
  [/^[A-Z]+ .*\/(records(\/.*)?|batch)$/, 'records:write'],
  [/^(GET .*\/files.*|POST .*\/link)$/, 'files:read'],
  [/^[A-Z]+ .*\/files(\/:id)?$/, 'files:write'],
  [/^GET .*\/hooks\b/, 'hooks:read'],
  [/^[A-Z]+ .*\/hooks\b/, 'hooks:write'],
  [/^[A-Z]+ .*\/custom\//, 'custom:call'],
  [/^GET .*\/apps\/:app\/(?:types\.d\.ts|openapi\.json)$/, 'definition:read'],
  [/^GET .*\/(collections\b.*|definition)$/, 'definition:read'],
  [/^[A-Z]+ .*\/(collections\b.*|definition)$/, 'definition:write'],
  [/^GET .*\/policies\b/, 'policies:read'],
  [/^[A-Z]+ .*\/policies\b/, 'policies:write'],
  [/\/usage$/, 'usage:read'],
  [/\/outbox$/, 'outbox:read'],
  [/\/reset$/, 'workspaces:write'],
  [/\/audit$/, 'audit:read'],
  [/^GET .*\/(origins|oauth\/providers(\/:provider)?)$/, 'settings:read'],
  [/^[A-Z]+ .*\/(origins|oauth\/providers\/:provider)$/, 'settings:write'],
  [/^GET .*\/auth\/me$/, 'any'],
  [/\/(auth\/.*|admins.*|keys.*|impersonate|totp)$/, 'none'],
  [/^GET .*\/users\b/, 'users:read'],
  [/^[A-Z]+ .*\/users\b/, 'users:write'],
  [/^GET .*\/apps(\/:app)?$/, 'apps:read'],
  [/^[A-Z]+ .*\/apps(\/:app)?$/, 'apps:write'],
  [/^GET \/api\/workspaces(\/:[a-z]+)?$/, 'workspaces:read'],
  [/^[A-Z]+ \/api\/workspaces(\/:[a-z]+)?$/, 'workspaces:write'],
];

const scopes = Object.keys(keyScopes);
const endpoints = [...specified, ...additions].filter(({ who }) => who !== 'open');
let own: OwnWorkspace;
let appId: string;
let secrets: ReadonlyMap<string, string>;

beforeAll(async () => {
  own = await ownWorkspace();
  const app = await own.app();
  appId = app.id;
  const schema = { id: 'orders', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
  const made = scopes.map(async (scope) => {
    const { secret } = expectOk(await own.master.post('/api/keys', { name: scope, scopes: [scope] }));
    return [scope, String(secret)] as const;
  });
  secrets = new Map(await Promise.all(made));
});

async function passes(endpoint: Endpoint, secret: string): Promise<boolean> {
  const { method, body } = endpoint;
  const headers: Record<string, string> = { Authorization: `Bearer ${secret}` };
  if (endpoint.form === true) headers['Content-Type'] = 'multipart/form-data; boundary=x';
  const sent = endpoint.form === true ? '--x--' : body;
  const response = await send(serverUrl() + filledPath(endpoint, { workspace: own.id, app: appId }), {
    method,
    headers,
    ...(sent === undefined ? {} : { body: sent }),
  });
  if (response.status === 401) throw new Error(response.text);
  return response.status !== 403;
}

describe('a key of one scope', () => {
  it.each(endpoints)('is good at $method $path where the scope says so, and only there', async (endpoint) => {
    const name = `${endpoint.method} ${endpoint.path}`;
    const scope = scopeOf.find(([pattern]) => pattern.test(name))?.[1];
    expect(scope, `the scope of ${name} is not in the table`).toBeDefined();
    const results = await Promise.all(
      secrets.entries().map(async ([held, secret]) => [held, await passes(endpoint, secret)] as const),
    );
    const passed = results.filter(([, has]) => has).map(([held]) => held);
    expect(passed.sort()).toEqual((scope === 'any' ? scopes : scope === 'none' ? [] : [scope]).toSorted());
  });

  it('stays at its level whatever the scope', async () => {
    const other = await ownWorkspace();
    const otherApp = await other.app();
    const ownPath = `${own.path}/apps/${appId}`;
    const key = async (path: string, admin = own.master) => {
      const all = scopes.filter((scope) =>
        !/^(apps:write|users|settings|workspaces:write|outbox)/.test(scope)
      );
      return as(expectOk(await admin.post(`${path}/keys`, { name: 'all', scopes: all })).secret);
    };
    const ofApp = await key(ownPath);
    const ofWorkspace = await key(own.path, own.admin);
    const statuses = async (caller: typeof ofApp) => ({
      own: (await caller.get(`${ownPath}/collections`)).status,
      sibling: (await caller.get(`${own.path}/apps/ghost/collections`)).status,
      workspace: (await caller.get(`${own.path}/audit`)).status,
      foreign: (await caller.get(`${otherApp.path}/collections`)).status,
      ghost: (await caller.get('/api/workspaces/ghost/apps/ghost/collections')).status,
      server: (await caller.get('/api/system/audit')).status,
      workspaces: expectOk(await caller.get('/api/workspaces')).items.map(({ id }: { id: string }) => id),
      apps: expectOk(await caller.get(`${own.path}/apps`)).items.map(({ id }: { id: string }) => id),
    });
    const seen = { own: 200, foreign: 403, ghost: 403, server: 403, workspaces: [own.id], apps: [appId] };
    expect(await statuses(ofApp)).toEqual({ ...seen, sibling: 403, workspace: 403 });
    expect(await statuses(ofWorkspace)).toEqual({ ...seen, sibling: 404, workspace: 200 });
  });
});
