// A server of two API processes on one port, and requests of which either may get any.
import { vi } from 'vitest';
import { type ApiResponse, expectOk, send } from './api.ts';
import { startServer, type TestServer } from './server.ts';

/** What a request may carry. */
export interface Carried {
  body?: unknown;
  token?: string | undefined;
}

/** A server of two processes with an app in it. */
export interface Pair {
  url: string;
  /** `/api/workspaces/acme/apps/shop` */
  app: string;
  /** Those of its collection `notes`. */
  records: string;
  /** Asks as the master admin. */
  ask(method: string, path: string, body?: unknown): Promise<ApiResponse>;
  stop(): Promise<void>;
}

const password = 'a password of the test';

/** Starts one on which nothing was set up yet. */
export function startPair(): Promise<TestServer> {
  return startServer({
    config: { api: { workers: 2 }, rate_limit: { per_second: 100_000, burst: 100_000 } },
  });
}

/** A request on a connection of its own: the kernel gives connections to the two in turn, more or less. */
export async function askEither(
  url: string,
  method: string,
  { body, token }: Carried = {},
): Promise<ApiResponse> {
  return await send(url, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { Connection: 'close', ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
  });
}

/** Asks again and again until every one of 20 requests at once gets a response that will do. */
export async function untilBoth(
  ask: () => Promise<ApiResponse>,
  isGood: (response: ApiResponse) => boolean,
): Promise<void> {
  await vi.waitUntil(async () => (await Promise.all(Array.from({ length: 20 }, ask))).every(isGood), {
    timeout: 2_000,
    interval: 20,
  });
}

/** Starts one, sets it up, and makes an app with a collection in it. */
export async function openPair(): Promise<Pair> {
  const server = await startPair();
  const asAnyone = (method: string, path: string, body?: unknown) =>
    askEither(server.url + path, method, { body });
  expectOk(await asAnyone('POST', '/_/setup', { password }));
  await untilBoth(() => asAnyone('GET', '/_/auth/jwks.json'), ({ status }) => status === 200);
  const login = await asAnyone('POST', '/_/auth/admin/login', { username: 'admin', password });
  const token = String(expectOk(login).access_token);
  const ask = (method: string, path: string, body?: unknown) =>
    askEither(server.url + path, method, { body, token });
  expectOk(await ask('POST', '/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await ask('POST', '/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
  const app = '/api/workspaces/acme/apps/shop';
  const schema = { id: 'notes', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await ask('POST', `${app}/collections`, { schema }));
  const records = `${app}/collections/notes/records`;
  return { url: server.url, app, records, ask, stop: () => server.stop() };
}
