// The quota of requests: of an app in a second, by all callers.
import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, expectOk, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';

let shop: Scenario;

beforeEach(async () => {
  shop = await scenario({ collections: { notes: [] } });
});

/** A request for a WebSocket. */
function upgradeOf(path: string, { token }: Caller): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

describe('quota.requests_per_sec', () => {
  it('responds with 429 and Retry-After above it to every caller, and does not limit administration', async () => {
    await shop.setQuota('requests_per_sec', 5);
    const { workspace, admin, app } = shop;
    const records = shop.records('notes');
    const callers = [admin, workspace.admin, workspace.master];
    const started = performance.now();
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_unused, n) => (callers[n % 3] ?? admin).get(`${records}?per_page=1`)),
    );
    const seconds = (performance.now() - started) / 1_000;
    const passed = responses.filter(({ status }) => status === 200).length;
    expect(passed).toBeGreaterThanOrEqual(5);
    expect(passed).toBeLessThanOrEqual(5 + Math.ceil(seconds * 5));
    const refused = responses.find(({ status }) => status !== 200);
    if (refused === undefined) throw new Error('nothing was refused');
    expectError(refused, 429, 'quota_exceeded');
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect(refused.body.message).toBe('quota.requests_per_sec allows 5 requests to the app in a second');
    for (let times = 0; times < 8; times++) expectOk(await admin.get(`${app.path}/policies`));
  });

  it('at 0 shuts an app to all but its administration, writes, streams and WebSockets included', async () => {
    const { admin, app } = shop;
    const records = shop.records('notes');
    const { id } = expectOk(await admin.post(records, {}));
    await shop.setQuota('requests_per_sec', 0);
    expectError(await admin.get(records), 429, 'quota_exceeded');
    expectError(await admin.get(`${app.path}/collections/notes/events`), 429, 'quota_exceeded');
    for (
      const write of [
        admin.post(records, {}),
        admin.patch(`${records}/${id}`, {}),
        admin.delete(`${records}/${id}`),
        admin.post(`${app.path}/batch`, { requests: [] }),
      ]
    ) expectError(await write, 429, 'quota_exceeded');
    const socket = await sendRaw(serverUrl(), upgradeOf(`${app.path}/realtime`, admin));
    expect(socket).toMatchObject({ status: 429 });
    expect(socket.body).toContain('quota_exceeded');
    expectOk(await admin.delete(`${app.path}/policies/quota.requests_per_sec`));
    expectOk(await admin.get(`${records}/${id}`));
  });
});
