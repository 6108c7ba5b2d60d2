// As many apps with hooks as may have a runner, and more: each gets its turn.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk, patiently } from '../harness/api.ts';
import { type ServerSettings, startServer, type TestServer } from '../harness/server.ts';
import { permitFrequentJobs } from '../harness/set-up.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const apps = '/api/workspaces/acme/apps';
const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

const source = `routerAdd('GET', '/hi', () => 'hi');`;
/** For a machine on which starting a server takes long. */
const timeout = 180_000;
let server: TestServer;
let admin: Caller;

afterEach(() => server.stop());

async function start(config: ServerSettings) {
  server = await startServer({ config: { ...unlimited, ...config } });
  admin = (await openStorefront(server.url)).master;
}

async function load(id: string) {
  expectOk(await admin.post(apps, { id, name: id }));
  // A slow machine may not have stopped another runner in time.
  await vi.waitFor(async () => {
    const { reload } = expectOk(await admin.put(`${apps}/${id}/hooks/hi.js`, { source }));
    expect(reload).toEqual({ loaded: ['hi.js'], errors: [] });
  }, { timeout: 30_000 });
}

const messageOf = ({ message }: { message: string }) => message;

const routes = (version: number) => `
  routerAdd('GET', '/version', () => ${version});
  routerAdd('GET', '/slow', () => new Promise((resolve) => setTimeout(resolve, 4000, 'slow')));`;

/** On a connection of its own, which any process may get; again when it was told to come again. */
const ask = (id: string) =>
  patiently(() => as(undefined, server.url).get(`${apps}/${id}/custom/hi`, { Connection: 'close' }));

describe('more apps with hooks than there may be runners', () => {
  it('are loaded and answer, one after another and all at once', { timeout }, async () => {
    await start({ hooks: { max_runners: 2 } });
    for (const id of ids) await load(id);
    for (const id of [...ids, ...ids]) expect((await ask(id)).body).toBe('hi');
    const together = await Promise.all(ids.map(ask));
    expect(together.map(({ status }) => status)).toEqual(ids.map(() => 200));
    // All are of one workspace, which has half of the runners.
    expect(await server.line('"share_spent"')).toContain('"hooks.max_runners"');
  });

  it('answer in each of several API processes, whatever the others have in use', { timeout }, async () => {
    await start({ hooks: { max_runners: 4 }, api: { workers: 2 } });
    for (const id of ids) await load(id);
    for (const id of [...ids, ...ids, ...ids, ...ids]) expect((await ask(id)).body).toBe('hi');
  });
});

const streaming = `
  routerAdd('GET', '/hi', () => 'hi');
  routerAdd('GET', '/hold', () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array([46])) })));`;

describe('responses that stream on in all runners', () => {
  it('end where a workspace has none, the oldest of those that have most first', { timeout }, async () => {
    await start({ hooks: { max_runners: 2 } });
    const custom = (workspace: string) => `/api/workspaces/${workspace}/apps/a/custom`;
    for (const id of ['first', 'second', 'third']) {
      expectOk(await admin.post('/api/workspaces', { id, name: id }));
      expectOk(await admin.post(`/api/workspaces/${id}/apps`, { id: 'a', name: 'a' }));
    }
    const hold = async (workspace: string) => {
      expectOk(await admin.put(`/api/workspaces/${workspace}/apps/a/hooks/a.js`, { source: streaming }));
      const response = await fetch(`${server.url}${custom(workspace)}/hold`);
      const reader = response.body?.getReader() ?? expect.fail('nothing streams');
      expect((await reader.read()).value).toEqual(Uint8Array.of(46));
      return reader;
    };
    const [first, second] = [await hold('first'), await hold('second')];
    const firstEnds = first.read().then(() => 'ended', () => 'broken off');
    expectOk(await admin.put('/api/workspaces/third/apps/a/hooks/a.js', { source: streaming }));
    expect((await patiently(() => admin.get(`${custom('third')}/hi`))).body).toBe('hi');
    expect(await firstEnds).toBe('broken off');
    await second.cancel();
  });
});

/** Has the only runner do something for longer than a start waits; answers how that ended. */
async function holdRunner(): Promise<Promise<ApiResponse>[]> {
  await start({ hooks: { max_runners: 1 } });
  expectOk(await admin.post(apps, { id: 'a', name: 'a' }));
  expectOk(await admin.put(`${apps}/a/hooks/a.js`, { source: routes(1) }));
  let isOver = false;
  const slow = admin.get(`${apps}/a/custom/slow`).finally(() => isOver = true);
  const inFlight = async () => Number(expectOk(await admin.get(`${apps}/a/hooks/status`)).in_flight);
  await vi.waitUntil(async () => isOver || await inFlight() > 0, { timeout: 30_000 });
  return [slow];
}

const fileOf = (app: string) => join(server.dataDir, 'hooks', 'acme', app, 'a.js');

describe('other code, while the only runner has something to do for longer than a start waits', () => {
  it('is in effect once there is room for it', { timeout }, async () => {
    const [slow] = await holdRunner();
    await writeFile(fileOf('a'), routes(2));
    expect((await slow)?.body).toBe('slow');
    const version = async () => (await admin.get(`${apps}/a/custom/version`)).body;
    await expect.poll(version, { timeout: 60_000, interval: 100 }).toBe(2);
  });

  it('is scheduled once there is room for it, though nobody asks for its app', { timeout }, async () => {
    const [slow] = await holdRunner();
    await permitFrequentJobs(admin);
    expectOk(await admin.post(apps, { id: 'b', name: 'b' }));
    await mkdir(dirname(fileOf('b')));
    await writeFile(fileOf('b'), `cronAdd('tick', '* * * * * *', () => console.log('tick'));`);
    await slow;
    const told = async () => expectOk(await admin.get(`${apps}/b/hooks/logs`)).items.map(messageOf);
    await expect.poll(told, { timeout: 60_000, interval: 100 }).toContain('tick');
  });
});
