// Who may do what: every endpoint, asked by every kind of principal and with every kind of broken token.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Announces, readDescription } from '../contract/described.ts';
import { additions, type Endpoint, specified, type Who } from '../contract/endpoints.ts';
import { filledPath } from '../contract/filled-path.ts';
import {
  as,
  type Caller,
  expectOk,
  master,
  type OwnWorkspace,
  ownWorkspace,
  send,
  serverUrl,
} from '../harness/api.ts';
import { type Forge, openForge } from '../harness/forge.ts';

const principals = [
  'nobody',
  'end-user',
  'end-user of another app',
  'end-user of another workspace',
  'app admin',
  'admin of another app',
  'workspace admin',
  'admin of another workspace',
  'master',
] as const;
type Name = (typeof principals)[number];

/** Who of them passes, written down by hand: the code's own table has no say here. */
const passes: Record<Who, readonly Name[]> = {
  'open': principals,
  'anyone': [
    'nobody',
    'end-user',
    'end-user of another app',
    'app admin',
    'admin of another app',
    'workspace admin',
    'master',
  ],
  'anyone at the app': ['nobody', 'end-user', 'app admin', 'workspace admin', 'master'],
  'master': ['master'],
  'admin': ['app admin', 'admin of another app', 'workspace admin', 'admin of another workspace', 'master'],
  'realm': ['app admin', 'admin of another app', 'workspace admin', 'master'],
  'workspace admin': ['workspace admin', 'master'],
  'app admin': ['app admin', 'workspace admin', 'master'],
  'end-user': ['end-user', 'end-user of another app'],
  'signed in': [
    'end-user',
    'end-user of another app',
    'app admin',
    'admin of another app',
    'workspace admin',
    'master',
  ],
  'signed in at the app': ['end-user', 'app admin', 'workspace admin', 'master'],
};

const logoutPath = '/_/auth/logout';
// Logging out ends the sessions that the others need, so it comes last.
const endpoints = [...specified, ...additions].sort((a, b) =>
  Number(a.path === logoutPath) - Number(b.path === logoutPath)
);

let forge: Forge;
let announces: Announces;
let own: OwnWorkspace;
let root: Caller;
let appId: string;
let tokens: Record<Name, string | undefined>;
let broken: Record<string, string>;

beforeAll(async () => {
  const [opened, here, elsewhere, someone] = await Promise.all([
    openForge(),
    ownWorkspace(),
    ownWorkspace(),
    master(),
  ]);
  [forge, own, root] = [opened, here, someone];
  const [app, otherApp] = [await own.app(), await own.app()];
  appId = app.id;
  announces = await readDescription();
  const schema = { id: 'orders', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
  tokens = {
    'nobody': undefined,
    'end-user': forge.user(own.id),
    'end-user of another app': forge.user(own.id, otherApp.id),
    'end-user of another workspace': forge.user(elsewhere.id),
    'app admin': app.admin.token,
    'admin of another app': otherApp.admin.token,
    'workspace admin': own.admin.token,
    'admin of another workspace': elsewhere.admin.token,
    'master': root.token,
  };
  const revoked = await master();
  expectOk(await revoked.post(logoutPath));
  broken = {
    ...forge.broken({ role: 'master_admin' }),
    'revoked': revoked.token ?? '',
    'of a role that does not exist': forge.genuine({ role: 'root' }),
    'of a master in a workspace': forge.genuine({ role: 'master_admin', workspace: own.id }),
    'of a workspace admin of nothing': forge.genuine({ role: 'workspace_admin' }),
    'of an app admin of nothing': forge.genuine({ role: 'app_admin', workspace: own.id }),
    'a refresh token': await refreshToken(),
  };
});

async function refreshToken(): Promise<string> {
  const { email, password } = await own.login();
  const session = expectOk(await as().post(`${own.path}/auth/admin/login`, { email, password }));
  return String(session.refresh_token);
}

/** `401`, `403`, or `passed`; or what is odd about the response, also that the description does not announce it. */
async function ask(endpoint: Endpoint, token: string | undefined): Promise<string> {
  const { method } = endpoint;
  const body = endpoint.form === true ? '--x--' : endpoint.body;
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  if (endpoint.form === true) headers['Content-Type'] = 'multipart/form-data; boundary=x';
  const response = await send(serverUrl() + filledPath(endpoint, { workspace: own.id, app: appId }), {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const { status, text } = response;
  const { code } = response.body;
  if (!announces(method, endpoint.path, { status, code })) return `not in the description: ${status} ${text}`;
  // The end-users are made up: that they do not exist is found out only behind the gate.
  if (response.body.message === 'the bearer of this token is gone') return 'passed';
  if (status === 401) return response.body.code === 'unauthorized' ? '401' : text;
  if (status === 403) return response.body.code === 'forbidden' ? '403' : text;
  const changesNothing = method === 'GET' || endpoint.path === logoutPath;
  if (status >= 500 || (status < 300 && !changesNothing)) return `${status} ${text}`;
  return 'passed';
}

function expected({ who }: Endpoint, name: Name): string {
  if (passes[who].includes(name)) return 'passed';
  return name === 'nobody' ? '401' : '403';
}

async function askAll(
  endpoint: Endpoint,
  all: Record<string, string | undefined>,
): Promise<Record<string, string>> {
  const entries = Object.entries(all).map(async ([name, token]) =>
    [name, await ask(endpoint, token)] as const
  );
  return Object.fromEntries(await Promise.all(entries));
}

describe('what does not exist', () => {
  const ghosts = [
    '/api/workspaces/ghost',
    '/api/workspaces/ghost/apps',
    '/api/workspaces/ghost/apps/ghost/collections',
  ];

  it.each(ghosts)('scope.matrix: %s is 404 to the master, 403 to others, 401 to nobody', async (path) => {
    const responses = Object.fromEntries(
      await Promise.all(
        principals.map(async (name) => [name, (await as(tokens[name]).get(path)).body.code] as const),
      ),
    );
    const wanted = Object.fromEntries(principals.map((name) => [name, 'forbidden']));
    expect(responses).toEqual({ ...wanted, nobody: 'unauthorized', master: 'workspace_not_found' });
  });

  it('scope.matrix: an app that is missing is 404 to admins of the workspace, 403 to the others', async () => {
    const path = `${own.path}/apps/ghost/collections`;
    const responses = Object.fromEntries(
      await Promise.all(
        principals.map(async (name) => [name, (await as(tokens[name]).get(path)).body.code] as const),
      ),
    );
    const wanted = Object.fromEntries(principals.map((name) => [name, 'forbidden']));
    const missing = 'app_not_found';
    expect(responses).toEqual({
      ...wanted,
      'nobody': 'unauthorized',
      'workspace admin': missing,
      'master': missing,
    });
  });
});

describe('with a token that is no good', () => {
  it.each(endpoints.filter(({ who }) => who !== 'open'))(
    'scope.matrix: $method $path is 401',
    async (endpoint) => {
      const wanted = Object.fromEntries(Object.keys(broken).map((name) => [name, '401']));
      expect(await askAll(endpoint, broken)).toEqual(wanted);
    },
  );

  it.each(endpoints.filter(({ who }) => who === 'open'))(
    'scope.matrix: $method $path ignores it',
    async (endpoint) => {
      const wanted = Object.fromEntries(Object.keys(broken).map((name) => [name, 'passed']));
      expect(await askAll(endpoint, broken)).toEqual(wanted);
    },
  );
});

describe('with a good token, or none', () => {
  it.each(endpoints)('scope.matrix: $method $path is for $who', async (endpoint) => {
    const wanted = Object.fromEntries(principals.map((name) => [name, expected(endpoint, name)]));
    expect(await askAll(endpoint, tokens)).toEqual(wanted);
  });
});
