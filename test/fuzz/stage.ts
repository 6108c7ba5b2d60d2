// A server with something of everything, and somebody of every kind who asks it for that.
import { keyScopes } from '../../api/contract/key-scopes.ts';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { masterPassword, setUp } from '../harness/set-up.ts';

/** The kinds of principal. */
export const kinds = ['anonymous', 'user', 'app admin', 'workspace admin', 'master', 'API key'] as const;
/** One of them. */
export type PrincipalKind = typeof kinds[number];

/** A set-up server. */
export interface Stage {
  server: TestServer;
  /** The caller of a kind, who has signed in anew if need be. */
  caller(kind: PrincipalKind): Promise<Caller>;
  /** What path parameters may be, by their names. That of an id is the one of the last segment before it. */
  parameters: Readonly<Record<string, string>>;
}

const workspace = '/api/workspaces/acme';
const app = `${workspace}/apps/shop`;
const password = 'a long enough password';

const everyKind = [
  { name: 'title', kind: 'text', required: true, min: 1, max: 80, search: true },
  { name: 'count', kind: 'number', min: 0, max: 100 },
  { name: 'number', kind: 'number', autonumber: true },
  { name: 'done', kind: 'bool', default: false },
  { name: 'extra', kind: 'json' },
  { name: 'due', kind: 'datetime', index: true },
  { name: 'mail', kind: 'email' },
  { name: 'page', kind: 'url' },
  { name: 'state', kind: 'select', options: ['open', 'done'] },
  { name: 'tags', kind: 'select', options: ['a', 'b', 'c'], many: true, max: 2 },
];

/** Starts it. */
export async function openStage(): Promise<Stage> {
  const server = await startServer({
    config: { rate_limit: { enabled: false }, hooks: { type_check: false }, log: { level: 'error' } },
  });
  const master = await setUp(server.url);
  expectOk(await master.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await master.post(`${workspace}/apps`, { id: 'shop', name: 'Shop' }));
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'posts', fields: everyKind } }));
  for (const action of ['list', 'get', 'create', 'update', 'delete']) {
    expectOk(await master.put(`${app}/collections/posts/access_rules/${action}`, { template: 'auth' }));
  }
  const source =
    "routerAdd('ANY', '/hello', () => ({ ok: true }));\ncronAdd('nightly', '0 3 * * *', () => undefined);";
  expectOk(await master.put(`${app}/hooks/hooks.ts`, { source }));
  expectOk(await master.put(`${app}/hooks/env/TOKEN`, { value: 'x' }));
  const admin = { email: 'ada@example.com', password };
  const boss = expectOk(await master.post(`${workspace}/admins`, { ...admin, app_ids: [] }));
  expectOk(
    await master.post(`${workspace}/admins`, { email: 'bob@example.com', password, app_ids: ['shop'] }),
  );
  const anyone = as(undefined, server.url);
  const user = expectOk(
    await anyone.post(`${workspace}/auth/users/register`, { email: 'eve@example.com', password }),
  );
  const record = expectOk(await master.post(`${app}/collections/posts/records`, { title: 'One' }));
  const file = expectOk(await master.post(`${app}/files`, 'text', { 'Content-Type': 'text/plain' }));
  const key = expectOk(await master.post('/api/keys', { name: 'fuzz', scopes: Object.keys(keyScopes) }));
  return {
    server,
    caller: callers(server.url, String(key.secret)),
    parameters: {
      ...{ workspace: 'acme', app: 'shop', coll: 'posts', action: 'list', provider: 'local', path: 'hello' },
      ...{ filename: 'other.ts', variable: 'TOKEN', field: 'password.length', name: 'nightly' },
      ...{ records: String(record.id), files: String(file.id), admins: String(boss.id) },
      ...{ users: String(user.user?.id ?? user.id), keys: String(key.id) },
    },
  };
}

function callers(url: string, key: string): Stage['caller'] {
  const anyone = as(undefined, url);
  const logins = {
    'user': [`${workspace}/auth/users/login`, { email: 'eve@example.com', password }],
    'app admin': [`${workspace}/auth/admin/login`, { email: 'bob@example.com', password }],
    'workspace admin': [`${workspace}/auth/admin/login`, { email: 'ada@example.com', password }],
    'master': ['/_/auth/admin/login', { username: 'admin', password: masterPassword }],
  } as const;
  const signedIn = new Map<PrincipalKind, Caller>();
  return async (kind) => {
    if (kind === 'anonymous') return anyone;
    if (kind === 'API key') return as(key, url);
    const known = signedIn.get(kind);
    if (known !== undefined && (await known.get('/_/auth/me')).status === 200) return known;
    const [path, credentials] = logins[kind];
    const { body } = await anyone.post(path, credentials);
    const caller = as(typeof body.access_token === 'string' ? body.access_token : 'none', url);
    signedIn.set(kind, caller);
    return caller;
  };
}
