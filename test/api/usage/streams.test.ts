// The event streams that a workspace may have at once.
import { beforeAll, expect, it, vi } from 'vitest';
import { expectOk, serverUrl } from '../../harness/api.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';
import { type Watched, watched } from '../../harness/watched.ts';
import type { EventClient } from '../realtime/event-client.ts';
import { openSocket } from '../realtime/socket-client.ts';

let app: Scenario;
let posts: Watched;
beforeAll(async () => {
  app = await scenario();
  posts = await watched(app, { list: 'any' }, [title]);
  await app.setQuota('streams', 2, app.workspace.path);
});

/** A stream, as soon as those that have been closed are seen to be. */
async function opened(): Promise<EventClient> {
  return await vi.waitFor(async () => {
    const stream = await posts.watch();
    expect(stream.status).toBe(200);
    return stream;
  }, 10_000);
}

it('quota.streams: one more is 429 with the quota, until one ends; another workspace is none the worse', async () => {
  const [first, second] = [await posts.watch(), await posts.watch()];
  const refused = await posts.watch();
  await refused.closed;
  expect(refused.head).toContain(' 429 ');
  expect(refused.head).toMatch(/^retry-after: 1\r?$/im);
  expect(JSON.parse(refused.body)).toMatchObject({
    code: 'quota_exceeded',
    message: expect.stringContaining('quota.streams allows 2'),
  });

  const other = await watched(await scenario(), { list: 'any' }, [title]);
  expect((await other.watch()).status).toBe(200);

  first.socket.destroy();
  (await opened()).socket.destroy();
  second.socket.destroy();
});

it('quota.streams: a WebSocket counts, and each of its subscriptions', async () => {
  (await opened()).socket.destroy();
  const path = `${posts.records.replace(/\/collections\/.*/, '')}/realtime`;
  const client = await openSocket(Number(new URL(serverUrl()).port), {}, path);
  expect(await client.subscribe('a', { collection: posts.name })).toMatchObject({ type: 'subscribed' });
  expect(await client.subscribe('b', { collection: posts.name })).toMatchObject({ code: 'quota_exceeded' });
});

it('is shown in the usage', async () => {
  expect(expectOk(await app.workspace.admin.get(`${app.workspace.path}/usage`)).quotas.streams).toBe(2);
});
