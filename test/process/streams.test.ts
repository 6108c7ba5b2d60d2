// Streams of a server of their own: its log, its allowlist, its rate limit, its end.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { as, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';
import { openEvents } from '../api/realtime/event-client.ts';
import { handshake, openSocket } from '../api/realtime/socket-client.ts';

const friend = 'https://friend.example';

let server: TestServer;
let store: Storefront;
let port: number;
let token: string;
let events: string;
let socketPath: string;

async function begin(config: Record<string, number | readonly string[]> = {}): Promise<void> {
  server = await startServer({ config: { ...unlimited, 'cors.allowed_origins': [friend], ...config } });
  store = await openStorefront(server.url);
  port = Number(new URL(server.url).port);
  token = store.master.token ?? '';
  events = store.records.replace(/records$/, 'events');
  socketPath = store.records.replace(/collections\/.*$/, 'realtime');
}

describe('streams of a server', () => {
  beforeEach(() => begin());
  afterEach(() => server.stop());

  it('are in the log once they begin', async () => {
    const stream = await openEvents(port, { path: events, token });
    const line = JSON.parse(await server.line('/collections/:coll/events'));
    expect(line).toMatchObject({ method: 'GET', status: 200, principal: 'master_admin' });
    expect(stream.head).toContain(`X-Request-Id: ${line.request_id}`);
    const socket = await openSocket(port, { Authorization: `Bearer ${token}` }, socketPath);
    expect(JSON.parse(await server.line('/apps/:app/realtime'))).toMatchObject({ status: 101 });
    socket.socket.close();
    stream.socket.destroy();
  });

  it("may be watched from pages of the CORS allowlist, and with a cookie from those of the token's workspace", async () => {
    const response = await fetch(server.url + events, {
      headers: { Authorization: `Bearer ${token}`, Origin: friend },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(friend);
    await response.body?.cancel();
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    const [, workspace = ''] = events.match(/^(\/api\/workspaces\/[^/]+)/) ?? [];
    const admin = { email: 'a@example.com', password: 'a password of the test' };
    expectOk(await store.master.post(`${workspace}/admins`, { ...admin, name: 'A', app_ids: [] }));
    const { access_token } = expectOk(
      await as(undefined, server.url).post(`${workspace}/auth/admin/login`, admin),
    );
    const cookie = `svc_at=${access_token}`;
    const open = (headers: Record<string, string>) => handshake(port, { at: socketPath, headers });
    expect((await open({ Cookie: cookie, Origin: friend })).status).toBe(403);
    expectOk(await store.master.put(`${workspace}/origins`, { origins: [friend] }));
    expect((await open({ Cookie: cookie, Origin: friend })).status).toBe(101);
    expect((await open({ Cookie: cookie, Origin: 'https://foe.example' })).status).toBe(403);
    expect((await open({ Cookie: cookie })).status).toBe(403);
  });
});

describe('a server that is told to stop', () => {
  it('ends its streams, and does not wait for them', async () => {
    await begin();
    const stream = await openEvents(port, { path: events, token });
    const socket = await openSocket(port, { Authorization: `Bearer ${token}` }, socketPath);
    const told = performance.now();
    server.kill('SIGTERM');
    await stream.closed;
    expect((await socket.closed).code).toBe(1001);
    expect(await server.exited).toMatchObject({ code: 0 });
    // Requests in flight would get 10 s.
    expect(performance.now() - told).toBeLessThan(8_000);
  });
});

describe('a server without its first-run setup', () => {
  it('opens no WebSocket, and counts upgrades for the rate limit', async () => {
    server = await startServer({ config: { 'rate_limit.per_second': 1, 'rate_limit.burst': 3 } });
    port = Number(new URL(server.url).port);
    const at = '/api/workspaces/acme/apps/shop/realtime';
    const codes: unknown[] = [];
    for (let turn = 0; turn < 5; turn++) codes.push(JSON.parse((await handshake(port, { at })).body).code);
    expect(codes[0]).toBe('uninitialized');
    expect(codes.at(-1)).toBe('too_many_requests');
    await server.stop();
  });
});
