// Hook runners that die, stop, grow without bound or never come back: what their app, the API and other apps notice.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { apiPidOf, timesOf } from '../harness/kills.ts';
import { measured } from '../harness/measured.ts';
import { processTree, residentMemory } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const apps = '/api/workspaces/acme/apps';
const MiB = 1024 * 1024;
const memory = 256;
const kills = timesOf({ few: 6, all: 200 });

let server: TestServer;
let admin: Caller;
let made = 0;

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, hooks: { memory_mb: memory } } });
  admin = (await openStorefront(server.url)).master;
});
afterAll(() => server.stop());

/** A new app with a collection `orders` and one hook file; answers the paths of its records and of its hooks. */
async function appWith(source: string): Promise<{ records: string; hooks: string; app: string }> {
  const app = `${apps}/h${++made}`;
  expectOk(await admin.post(apps, { id: `h${made}`, name: 'Hooked' }));
  const fields = [{ name: 'title', kind: 'text' }, { name: 'meta', kind: 'json' }];
  expectOk(await admin.post(`${app}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
  expectOk(await admin.put(`${app}/hooks/hook.js`, { source }));
  return { app, records: `${app}/collections/orders/records`, hooks: `${app}/hooks` };
}

const bound = (app: string, ms: number) =>
  admin.put(`${app}/policies/hooks.timeout_ms`, { kind: 'range', min: ms, max: ms }).then(expectOk);

async function pids(pattern: RegExp): Promise<number[]> {
  return (await processTree(server.pid)).filter(({ command }) => pattern.test(command)).map(({ pid }) => pid);
}
const runners = () => pids(/^\S*\/deno run .*--deny-read/);

/** The runner that came with what `work` does. */
async function runnerOf<Result>(work: () => Promise<Result>): Promise<{ pid: number; result: Result }> {
  const before = new Set(await runners());
  const result = await work();
  const [pid] = (await runners()).filter((one) => !before.has(one));
  if (pid === undefined) throw new Error('no runner was started');
  return { pid, result };
}

const waits = `onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') return new Promise(() => {});
});`;

async function timed<Result>(work: Promise<Result>): Promise<{ result: Result; ms: number }> {
  const began = performance.now();
  const result = await work;
  return { result, ms: Math.round(performance.now() - began) };
}

async function untilInFlight(hooks: string): Promise<void> {
  await expect.poll(async () => expectOk(await admin.get(`${hooks}/status`)).in_flight, { interval: 5 }).toBe(
    1,
  );
}

describe('a runner that is killed while a hook runs', () => {
  it('hook.killed: refuses that write at once, and serves the next; nothing of it is stored', {
    timeout: 60_000 + kills * 1_000,
  }, async () => {
    const { result: { records, hooks } } = await runnerOf(() => appWith(waits));
    const figures: { refused: number; next: number }[] = [];
    for (let round = 0; round < kills; round++) {
      // New code forgives the app its crashes.
      const { pid } = await runnerOf(() =>
        admin.put(`${hooks}/hook.js`, { source: `${waits}\n// ${round}` })
      );
      const write = admin.post(records, { title: 'go' });
      await untilInFlight(hooks);
      process.kill(pid, 'SIGKILL');
      const { result: { status, body }, ms: refused } = await timed(write);
      expect({ status, code: body.code }).toEqual({ status: 500, code: 'hook_error' });
      const { result, ms: next } = await timed(admin.post(records, { title: 'next' }));
      expectOk(result);
      figures.push({ refused, next });
    }
    console.log(`refused after ${figures.map(({ refused }) => refused).join(' ')} ms`);
    console.log(`the next write took ${figures.map(({ next }) => next).join(' ')} ms`);
    expect(Math.max(...figures.map(({ refused }) => refused))).toBeLessThan(1000);
    expect(Math.max(...figures.map(({ next }) => next))).toBeLessThan(2000);
    const { items } = expectOk(await admin.get(records));
    expect(items.map(({ fields }: { fields: { title: string } }) => fields.title)).not.toContain('go');
  });

  it(
    'hook.stopped: a runner that no longer runs is given up by the deadline and replaced',
    async () => {
      const { pid, result: { app, records, hooks } } = await runnerOf(() => appWith(waits));
      // So long that a busy machine sees that the hook runs.
      await bound(app, 2_000);
      const write = timed(admin.post(records, { title: 'go' }));
      await untilInFlight(hooks);
      process.kill(pid, 'SIGSTOP');
      const { result, ms } = await write;
      expect(result.body.code).toBe('hook_error');
      expect(ms).toBeLessThan(3_500);
      expectOk(await admin.post(records, { title: 'next' }));
      await expect.poll(async () => (await runners()).includes(pid), { timeout: 5000 }).toBe(false);
    },
  );
});

describe('an app whose runners are killed again and again', () => {
  it('hook.crash-loop: is answered 503 with Retry-After after the fifth, alone, until its code changes', async () => {
    const others = await runners();
    const { records, hooks } = await appWith(waits);
    let crashes = 0;
    let response = await admin.post(records, { title: 'next' });
    // The file that was just put is noticed in its folder too, which forgives what has happened by then.
    for (let round = 0; response.status === 201 && round < 10; round++) {
      const write = admin.post(records, { title: 'go' });
      await untilInFlight(hooks);
      // More than one where that notice has just begun another runner.
      for (const pid of (await runners()).filter((pid) => !others.includes(pid))) {
        process.kill(pid, 'SIGKILL');
        crashes++;
      }
      expect((await write).body.code).toBe('hook_error');
      response = await admin.post(records, { title: 'next' });
    }
    expect(crashes).toBeGreaterThanOrEqual(5);
    const { status, body, headers } = response;
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'hook_unavailable' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expectOk(await admin.post((await appWith(waits)).records, { title: 'of another app' }));
    expectOk(await admin.put(`${hooks}/hook.js`, { source: `${waits}\n// mended` }));
    expectOk(await admin.post(records, { title: 'next' }));
  });
});

describe('an app whose hook loops', () => {
  it(
    'hook.infinite-loop: takes no more than as much again from the writes of another app',
    measured,
    async () => {
      const loops = await appWith(`onRecordBeforeCreate('orders', () => { for (;;); });`);
      const other = await appWith(
        `onRecordBeforeCreate('orders', (e) => { e.record.fields.title += '!'; });`,
      );
      await bound(loops.app, 500);
      const within = async (ms: number) => {
        const end = performance.now() + ms;
        const times = await serveMeanwhile(other.records, () => performance.now() > end);
        return times[Math.ceil(times.length * 0.99) - 1] ?? 0;
      };
      await within(300);
      const alone = await within(1000);
      const looping = Promise.all([1, 2, 3].map(() => admin.post(loops.records, { title: 'x' })));
      const beside = await within(1000);
      for (const { body } of await looping) expect(body.code).toBe('hook_error');
      console.log(`p99 of another app's writes: ${alone} ms alone, ${beside} ms beside loops`);
      // Twice as long, and what a busy machine may add.
      expect(beside).toBeLessThan(alone * 2 + 200);
    },
  );
});

describe('code that hangs while it is loaded', () => {
  it.each([['a loop', 'for (;;);'], ['a promise', 'await new Promise(() => {});']])(
    'hook.top-level-hang: %s is an error of the PUT in time, and what was live before goes on',
    async (_name, hang) => {
      const { app, records, hooks } = await appWith(`onRecordBeforeCreate('orders', () => false);`);
      await bound(app, 500);
      const { result, ms } = await timed(admin.put(`${hooks}/hangs.js`, { source: hang }));
      const { reload } = expectOk(result);
      expect(reload.errors).toHaveLength(1);
      expect(ms).toBeLessThan(3000);
      expect((await admin.post(records, { title: 'x' })).body.code).toMatch(/^hook_/);
      expectOk(await admin.delete(`${hooks}/hangs.js`));
      expect((await admin.post(records, { title: 'x' })).body.code).toBe('hook_veto');
    },
  );
});

describe('four apps that take all the memory they can', () => {
  it('hook.memory-bomb: stay within their bound; the API does not grow and another app is served', async () => {
    const bombs = ['heap-bomb', 'array-buffer-bomb', 'blob-bomb', 'inflate-bomb'];
    const sources = await Promise.all(
      bombs.map((name) => readFile(new URL(`../hook-cases/${name}/hook.js`, import.meta.url), 'utf8')),
    );
    const four = [];
    for (const source of sources) four.push(await appWith(source));
    const other = await appWith(`onRecordBeforeCreate('orders', (e) => { e.record.fields.title += '!'; });`);
    const api = await apiPidOf(server);
    const before = await residentMemory(api);
    let isOver = false;
    const writes = Promise.all(four.map(({ records }) => admin.post(records, { title: 'go' })));
    const watched = watchPeaks(() => isOver);
    const served = serveMeanwhile(other.records, () => isOver);
    const responses = await writes;
    isOver = true;
    const peaks = await watched;
    const times = await served;
    const grown = await residentMemory(api) - before;
    expect(responses.map(({ body }) => body.code)).toEqual(
      responses.map(() => expect.stringMatching(/^hook_(error|veto)$/)),
    );
    console.log(
      `runners peaked at ${peaks.map(Math.round).join(' ')} MiB, the API grew by ${grown.toFixed(1)} MiB`,
    );
    console.log(
      `${times.length} writes of another app meanwhile, the slowest in ${Math.round(times.at(-1) ?? 0)} ms`,
    );
    expect(Math.max(...peaks)).toBeGreaterThan(memory / 2);
    // The pages of the executable count too, which all runners share.
    expect(Math.max(...peaks)).toBeLessThan(memory * 1.1 + 40);
    expect(grown).toBeLessThan(20);
    for (const { records } of four) expectOk(await admin.post(records, { title: 'next' }));
  });
});

/** The largest resident size that each runner has reached, in MiB. */
async function watchPeaks(isOver: () => boolean): Promise<number[]> {
  const peaks = new Map<number, number>();
  while (!isOver()) {
    for (const pid of await runners()) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024 / MiB;
      peaks.set(pid, Math.max(peak, peaks.get(pid) ?? 0));
    }
  }
  return [...peaks.values()];
}

/** Writes one after another, all of which must succeed. Answers their milliseconds, shortest first. */
async function serveMeanwhile(records: string, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const { result, ms } = await timed(admin.post(records, { title: 'meanwhile' }));
    expectOk(result);
    times.push(ms);
  }
  return times.sort((a, b) => a - b);
}
