// Callers of the shared server, and places of their own for test files.
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { inject } from 'vitest';

/** A response, its body already read. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  // deno-lint-ignore no-explicit-any
  body: any;
  text: string;
}

/** Sends requests as one principal. Paths are relative to the server. */
export interface Caller {
  token: string | undefined;
  get(path: string, headers?: Record<string, string>): Promise<ApiResponse>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  delete(path: string, headers?: Record<string, string>): Promise<ApiResponse>;
}

/** The URL of the shared server. */
export function serverUrl(): string {
  return inject('server').url;
}

/** One request to any server; a body that is not text is sent as JSON. */
export async function send(
  url: string,
  init: { method: string; body?: unknown; headers?: Record<string, string> },
): Promise<ApiResponse> {
  const { method, body, headers = {} } = init;
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    redirect: 'manual',
  }).catch((error: Error) => {
    // "fetch failed" alone says neither what was sent nor why there is no response.
    throw new Error(`${method} ${url} has no response: ${inspect(error.cause, { breakLength: Infinity })}`, {
      cause: error,
    });
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  // A stream has no end to wait for.
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

/** A caller with a token, or an anonymous one. */
export function as(token?: string, url: string = serverUrl()): Caller {
  const auth: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const call = (method: string) => (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(url + path, { method, ...(body === undefined ? {} : { body }), headers: { ...auth, ...headers } });
  return {
    token,
    get: (path, headers) => call('GET')(path, undefined, headers),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: (path, headers) => call('DELETE')(path, undefined, headers),
  };
}

/** The response to what is sent, once the server is not too busy for it: many logins at once stand in line for a while only. */
export async function patiently(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (;;) {
    const response = await send();
    const seconds = Number(response.headers.get('Retry-After'));
    if (response.status !== 503 || seconds === 0) return response;
    await pause(seconds * 1_000);
  }
}

/** The master admin, freshly logged in. */
export async function master(): Promise<Caller> {
  const credentials = { username: 'admin', password: inject('server').masterPassword };
  const response = await patiently(() => as().post('/_/auth/admin/login', credentials));
  return as(expectOk(response).access_token);
}

/** A workspace of the test file's own, removed by nobody: the server's data dies with the run. */
export interface OwnWorkspace {
  id: string;
  /** `/api/workspaces/<id>` */
  path: string;
  master: Caller;
  /** A workspace admin. */
  admin: Caller;
  /** Makes an app, and answers its path and an app admin's caller. */
  app(id?: string): Promise<OwnApp>;
  /** Makes an admin and logs in: of the workspace, or of the given apps. */
  login(appIds?: string[]): Promise<Caller & { email: string; password: string; id: string }>;
}

/** An app of an own workspace. */
export interface OwnApp {
  id: string;
  /** `/api/workspaces/<ws>/apps/<id>` */
  path: string;
  admin: Caller;
}

/** Makes a workspace with an admin. */
export async function ownWorkspace(): Promise<OwnWorkspace> {
  const root = await master();
  const id = `t${randomUUID().slice(0, 13)}`;
  expectOk(await root.post('/api/workspaces', { id, name: 'A test' }));
  const path = `/api/workspaces/${id}`;
  const login = async (appIds: string[] = []) => {
    const email = `${randomUUID()}@example.com`;
    const password = 'a password of the test';
    const admin = { email, password, name: 'Test', app_ids: appIds };
    const made = expectOk(await patiently(() => root.post(`${path}/admins`, admin)));
    const session = expectOk(
      await patiently(() => as().post(`${path}/auth/admin/login`, { email, password })),
    );
    return { ...as(session.access_token), email, password, id: String(made.id) };
  };
  const admin = await login();
  const app = async (appId = `a${randomUUID().slice(0, 8)}`) => {
    expectOk(await admin.post(`${path}/apps`, { id: appId, name: 'An app' }));
    return { id: appId, path: `${path}/apps/${appId}`, admin: await login([appId]) };
  };
  return { id, path, master: root, admin, app, login };
}

/** The body of a 2xx answer; any other ends the test with what the server said. */
export function expectOk(response: ApiResponse): ApiResponse['body'] {
  if (response.status < 200 || response.status > 299) throw new Error(`${response.status} ${response.text}`);
  return response.body;
}
