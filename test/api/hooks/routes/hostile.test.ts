// What a runner may answer for a custom route that hook code cannot: its process may be the tenant's, and say anything.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AppHooks } from '../../../../api/hooks/app-hooks.ts';
import { type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

/** What is answered for the route, but for the id. */
let response: object;
let own: OwnHooks;
let hooks: AppHooks;
const server = createServer((_request, response) => void serve(response));

beforeAll(async () => {
  const routes = [{ method: 'ANY', path: '/', segments: [] }];
  own = await ownHooks({
    speaker: (message, say) => {
      if (message.type === 'load') {
        const files = [{ file: 'a.ts', hooks: [], routes, jobs: [] }];
        say({ type: 'loaded', id: message.id, files, errors: [] });
      } else if (message.type === 'route') say({ ...response, id: message.id });
    },
  });
  hooks = await own.app('routes', { 'a.ts': '' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await own.end();
});

async function serve(response: ServerResponse): Promise<void> {
  const body = () => Promise.resolve(Buffer.of());
  await own.serve(hooks, {
    response,
    headers: [],
    body,
    principal: null,
    requestId: 'test',
    appHost: undefined,
  });
}

const portOf = () => (server.address() as AddressInfo).port;
const path = '/api/workspaces/acme/apps/routes/custom/';

it.each([
  ['shipped.late-2', 'shipped.late-2'],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), 'hook_error'],
  ['', 'hook_error'],
  ['1x', 'hook_error'],
  ['two words', 'hook_error'],
  ['a\n', 'hook_error'],
  ['é', 'hook_error'],
])('an error has a code of the form of all: %j', async (code, shown) => {
  response = { type: 'result', outcome: 'http_error', status: 418, code, message: 'short' };
  const { status, headers, ...rest } = await fetch(`http://127.0.0.1:${portOf()}${path}`).then(async (
    got,
  ) => ({
    status: got.status,
    headers: got.headers.get('content-type'),
    body: await got.json(),
  }));
  expect([status, headers]).toEqual([418, 'application/json; charset=utf-8']);
  expect(rest.body).toEqual({ code: shown, message: 'short' });
});

it.each([['GET', 204], ['GET', 304], ['POST', 204], ['HEAD', 200]])(
  'a body where HTTP has none is not sent: %s with %i',
  async (method, status) => {
    response = {
      type: 'response',
      status,
      headers: [],
      body: { text: 'HTTP/1.1 200 OK\r\n\r\n' },
      end: true,
    };
    const socket = connect(portOf(), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => text += chunk.toString('latin1'));
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close');
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^\\r]*\\r\\n`));
    expect(text.indexOf('\r\n\r\n')).toBe(text.length - 4);
    expect(text.toLowerCase()).not.toContain('content-length');
  },
);
