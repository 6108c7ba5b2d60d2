// Faults of hooks, many times over: what the first time shows, the fiftieth shows too. `BULKHEAD_TEST_FAULTS=all` repeats
// each as often as the fault plan asks; otherwise it is a few times.
import { readFile } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { apiPidOf, timesOf } from '../harness/kills.ts';
import { residentMemory } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const apps = '/api/workspaces/acme/apps';
const deadline = 300;
let server: TestServer;
let admin: Caller;
let made = 0;

beforeAll(async () => {
  server = await startServer({ config: unlimited });
  admin = (await openStorefront(server.url)).master;
});
afterAll(() => server.stop());

interface Hooked {
  records: string;
  file: string;
  source: string;
}

async function appWith(source: string): Promise<Hooked> {
  const app = `${apps}/f${++made}`;
  expectOk(await admin.post(apps, { id: `f${made}`, name: 'Faulty' }));
  const fields = [{ name: 'title', kind: 'text' }, { name: 'meta', kind: 'json' }];
  expectOk(await admin.post(`${app}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
  expectOk(await admin.put(`${app}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: deadline }));
  const file = `${app}/hooks/hook.js`;
  expectOk(await admin.put(file, { source }));
  return { records: `${app}/collections/orders/records`, file, source };
}

const caseOf = (name: string) =>
  readFile(join(import.meta.dirname, '../hook-cases', name, 'hook.js'), 'utf8');

/** A write that is refused and then one that works. Milliseconds of each. */
async function strike(
  { records, file, source }: Hooked,
  round: number,
): Promise<{ refused: number; next: number }> {
  // New code forgives the app its crashes.
  expectOk(await admin.put(file, { source: `${source}\n// ${round}` }));
  const began = performance.now();
  const { status } = await admin.post(records, { title: 'go' });
  const refused = Math.round(performance.now() - began);
  expect(status).toBeGreaterThanOrEqual(400);
  expectOk(await admin.post(records, { title: 'next' }));
  return { refused, next: Math.round(performance.now() - began) - refused };
}

function worst(figures: readonly { refused: number; next: number }[]): { refused: number; next: number } {
  const most = (name: 'refused' | 'next') => Math.max(...figures.map((figure) => figure[name]));
  return { refused: most('refused'), next: most('next') };
}

async function stored({ records }: Hooked): Promise<string[]> {
  const { items } = expectOk(await admin.get(`${records}?per_page=200&filter=title='go'`));
  return items.map(({ id }: { id: string }) => id);
}

const loops: Readonly<Record<string, string | undefined>> = {
  'infinite-loop': undefined,
  'catastrophic-regexp': undefined,
  'loop-that-catches': undefined,
  'microtask-loop': undefined,
  'a wait for memory': `onRecordBeforeCreate('orders', (e) => {
    if (e.record.fields.title === 'go') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`,
};

describe('a hook that never comes back', () => {
  it.each(Object.entries(loops))(
    'hook.infinite-loop: %s is ended by the deadline each time, and the next write works',
    { timeout: 180_000 },
    async (name, source) => {
      const app = await appWith(source ?? await caseOf(name));
      const figures = [];
      for (let round = 0; round < timesOf({ few: 4, all: 50 }); round++) {
        figures.push(await strike(app, round));
      }
      console.log(name, figures.length, 'times, at worst', worst(figures), 'ms');
      // Not before: then it would not have been the deadline that ended it.
      expect(Math.min(...figures.map(({ refused }) => refused))).toBeGreaterThanOrEqual(deadline - 10);
      expect(worst(figures).refused).toBeLessThan(deadline + 500);
      expect(worst(figures).next).toBeLessThan(2_000);
      expect(await stored(app)).toEqual([]);
    },
  );
});

const bombs = [
  'heap-bomb',
  'array-buffer-bomb',
  'blob-bomb',
  'shared-memory-bomb',
  'deep-value',
  'inflate-bomb',
];

describe('hooks that take all memory they can', () => {
  it('hook.memory-bomb: four apps at once, of six kinds, take none of the API and none of the machine', {
    timeout: 180_000,
  }, async () => {
    const four = await Promise.all(bombs.slice(0, 4).map(async (name) => await appWith(await caseOf(name))));
    const api = await apiPidOf(server);
    const before = await residentMemory(api);
    let leastFree = 1;
    const watch = setInterval(() => leastFree = Math.min(leastFree, freemem() / totalmem()), 20);
    try {
      for (let round = 0; round < timesOf({ few: 3, all: 20 }); round++) {
        await Promise.all(four.map(async (app, index) => {
          const source = await caseOf(bombs[(round + index) % bombs.length] ?? '');
          expectOk(await admin.put(app.file, { source: `${source}\n// ${round}` }));
          await admin.post(app.records, { title: 'go' });
          expectOk(await admin.post(app.records, { title: 'next' }));
        }));
      }
    } finally {
      clearInterval(watch);
    }
    const grown = Math.round(await residentMemory(api) - before);
    console.log(
      'the API has grown by',
      grown,
      'MiB; least memory left to the machine',
      Math.round(leastFree * 100),
      '%',
    );
    expect(grown).toBeLessThan(20);
    expect(leastFree).toBeGreaterThan(0.2);
    for (const app of four) expect(await stored(app)).toEqual([]);
  });
});
