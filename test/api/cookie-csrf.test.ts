// Requests that carry a cookie and were sent by a page: every endpoint that changes something checks the page's origin.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { additions, type Endpoint, specified } from '../contract/endpoints.ts';
import {
  type ApiResponse,
  master,
  type OwnWorkspace,
  ownWorkspace,
  send,
  serverUrl,
} from '../harness/api.ts';
import { expectError } from '../harness/expectations.ts';
import { openForge } from '../harness/forge.ts';

const needsOrigin =
  "a request with a cookie needs an Origin of its own host or of the token's workspace (PUT …/origins)";
const foreign = ['https://evil.example', 'null', undefined];
const readingMethods: readonly string[] = ['GET', 'OPTIONS'];
const all = [...specified, ...additions];
/** They read the cookie with a refresh token themselves, or have none to read. */
const refreshing = all.filter(({ path }) => /\/(?:refresh|logout)$/.test(path));

let own: OwnWorkspace;
let appId: string;
let cookies: Record<'master' | 'user', string>;

beforeAll(async () => {
  const [forge, root] = await Promise.all([openForge(), master()]);
  own = await ownWorkspace();
  appId = (await own.app()).id;
  cookies = { master: `svc_at=${root.token}`, user: `svc_at=${forge.user(own.id)}` };
});

/** Sends what is refused later for its body, or since nothing of its name is there. */
function ask({ method, path, who, body, form }: Endpoint, origin: string | undefined): Promise<ApiResponse> {
  const ids: Record<string, string> = { workspace: own.id, app: appId, id: randomUUID() };
  // What a DELETE would remove is not there, in case that it is let through.
  const filled = path.replaceAll(
    /:([a-z]+)/g,
    (_match, name: string, at: number) =>
      method === 'DELETE' && at + 1 + name.length === path.length ? 'ghost' : ids[name] ?? 'ghost',
  );
  const content = form === true ? '--x--' : body;
  return send(serverUrl() + filled, {
    method,
    headers: {
      Cookie: who === 'end-user' ? cookies.user : cookies.master,
      ...(origin === undefined ? {} : { Origin: origin }),
      ...(form === true ? { 'Content-Type': 'multipart/form-data; boundary=x' } : {}),
    },
    ...(content === undefined ? {} : { body: content }),
  });
}

describe('cookie.csrf: a cookie', () => {
  it.each(all.filter(({ method, who }) => !readingMethods.includes(method) && who !== 'open'))(
    'is good for $method $path from a page of ours alone',
    async (endpoint) => {
      for (const origin of foreign) {
        const response = await ask(endpoint, origin);
        expectError(response, 403, 'forbidden');
        expect(response.body.message).toBe(needsOrigin);
        expect(response.headers.getSetCookie()).toEqual([]);
      }
      for (const origin of [serverUrl(), serverUrl().replace('http:', 'https:')]) {
        const { status, body } = await ask(endpoint, origin);
        expect([status, body.message]).not.toEqual([403, needsOrigin]);
      }
    },
  );

  it.each(all.filter(({ method, who }) => readingMethods.includes(method) && who === 'master'))(
    'is good for reading from any page: $method $path',
    async (endpoint) => {
      for (const origin of foreign) expect((await ask(endpoint, origin)).status).not.toBe(403);
    },
  );
});

describe('cookie.csrf: tokens', () => {
  it('can be exchanged and ended in four places', () => {
    expect(refreshing).toHaveLength(4);
  });

  it.each(refreshing)('are not touched by a foreign page: $method $path', async (endpoint) => {
    for (const origin of ['https://evil.example', 'null']) {
      const response = await ask(endpoint, origin);
      expectError(response, 403, 'forbidden');
      expect(response.body.message).toBe(
        'pages of this Origin may not call the API (PUT …/origins, or setting cors.allowed_origins)',
      );
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });
});
