// A part of the server that is stopped without ending: nobody is told, and its own deadlines do not come.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { apiPidOf, killApi, untilBack } from '../harness/kills.ts';
import { listProcesses } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';

let server: TestServer;
let store: Storefront;
beforeAll(async () => {
  server = await startServer({ config: unlimited });
  store = await openStorefront(server.url);
});
afterAll(() => server.stop());

/** PostgreSQL's processes that serve the app. */
async function backends(): Promise<number[]> {
  const text = await readFile(join(server.dataDir, 'postgresql', 'data', 'postmaster.pid'), 'utf8');
  const postmaster = Number.parseInt(text, 10);
  return (await listProcesses())
    .filter(({ parent, command }) => parent === postmaster && /^postgres: a_/.test(command))
    .map(({ pid }) => pid);
}

/** Stops processes while work is done. */
async function stopped<Result>(pids: readonly number[], work: () => Promise<Result>): Promise<Result> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
}

async function timed(id: string) {
  const began = performance.now();
  const { status, headers } = await store.write(id);
  return { id, status, retry: headers.get('retry-after'), ms: performance.now() - began };
}

it('fault.stopped: what a stopped backend of PostgreSQL was asked is refused in 6 s or so, all else is done meanwhile', async () => {
  await Promise.all(Array.from({ length: 16 }, () => store.write(randomUUID()).then(expectOk)));
  const pids = await backends();
  const { during, after } = await stopped(pids, async () => ({
    during: await Promise.all(pids.slice(0, 8).map(() => timed(randomUUID()))),
    after: await Promise.all(Array.from({ length: 8 }, () => timed(randomUUID()))),
  }));
  // A backend that PostgreSQL was still starting was not stopped, and serves what it is asked.
  const refused = during.filter(({ status }) => status !== 201);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, retry, ms } of refused) {
    expect({ status, retry }).toEqual({ status: 503, retry: '1' });
    expect(ms).toBeGreaterThan(5_000);
    expect(ms).toBeLessThan(10_000);
  }
  expect(after.map(({ status }) => status)).toEqual(Array(8).fill(201));
  for (const { id } of after) expectOk(await store.read(id));
});

it.each([
  ['the process that was refused it', () => Promise.resolve()],
  ['the successor of that', async () => {
    await killApi(await apiPidOf(server));
    await untilBack(server);
  }],
])('fault.stopped: what a backend does as it goes on again is seen by %s', async (_who, meanwhile) => {
  const id = randomUUID();
  expectOk(await store.write(id));
  const change = (title: string) => store.master.patch(`${store.records}/${id}`, { title });
  const titleOf = async () => expectOk(await store.read(id)).fields.title;
  // Only a statement that is prepared needs nothing but the one message.
  for (const title of ['first', 'second', 'third']) expectOk(await change(title));
  await stopped(await backends(), async () => {
    expect((await change('late')).status).toBe(503);
    await meanwhile();
    // Longer than any statement takes. What meets another stopped backend is refused meanwhile.
    await Promise.all([pause(6_500), ...Array.from({ length: 16 }, () => store.read(id))]);
    for (let reads = 0; reads < 3; reads++) await expect.poll(titleOf, { timeout: 20_000 }).toBe('third');
  });
  await expect.poll(async () => {
    const { items } = expectOk(await store.master.get(`${store.records}?filter=id="${id}"`));
    return items[0].fields.title;
  }, { timeout: 10_000 }).toBe('late');
  expect(await titleOf()).toBe('late');
}, 120_000);

it('fault.stopped: an API process that does nothing any more is replaced after half a minute', async () => {
  const pid = await apiPidOf(server);
  process.kill(pid, 'SIGSTOP');
  const line: unknown = JSON.parse(await server.line('did not respond for 30 s'));
  expect(line).toMatchObject({ level: 'error', process: 'api', message: 'api died and is started again' });
  expect(await untilBack(server)).not.toBe(pid);
  const id = randomUUID();
  expectOk(await store.write(id));
  expectOk(await store.read(id));
}, 120_000);
