// One tenant takes all that it can; what another one notices of it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';

const loud = '/api/workspaces/loud/apps/shop';
const orders = `${loud}/collections/orders`;
let server: TestServer;
let quiet: Storefront;
let noise: Caller;

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, 'hooks.timeout_ms': 500 } });
  quiet = await openStorefront(server.url);
  noise = quiet.master;
  expectOk(await noise.post('/api/workspaces', { id: 'loud', name: 'Loud' }));
  expectOk(await noise.post('/api/workspaces/loud/apps', { id: 'shop', name: 'Shop' }));
  const fields = [{ name: 'title', kind: 'text' }];
  expectOk(await noise.post(`${loud}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
  const title = 'a long text to search through '.repeat(2_000);
  for (let batch = 0; batch < 10; batch++) {
    const requests = Array.from(
      { length: 60 },
      () => ({ method: 'POST', collection: 'orders', body: { title } }),
    );
    expectOk(await noise.post(`${loud}/batch`, { requests }));
  }
  const source = `routerAdd('GET', '/spin', () => { for (;;); });`;
  expectOk(await noise.put(`${loud}/hooks/spin.ts`, { source }));
}, 120_000);
afterAll(() => server.stop());

/** What the loud tenant does, each of it several times at once and again and again. */
const noises: (() => Promise<unknown>)[] = [
  ...Array.from({ length: 12 }, () => () => {
    const filter = Array.from({ length: 60 }, (_, i) => `title ~ 'nowhere ${i}'`).join(' || ');
    return noise.get(`${orders}/records?filter=${encodeURIComponent(filter)}`);
  }),
  ...Array.from({ length: 4 }, () => () =>
    fetch(`${server.url}${loud}/files`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${noise.token}` },
      body: new Uint8Array(5_000_000),
    }).then((response) => response.arrayBuffer())),
  ...Array.from({ length: 8 }, () => () => noise.get(`${loud}/custom/spin`)),
];

/** Reads and writes of the quiet tenant, one after another, until told to stop. Milliseconds of each. */
async function live(until: () => boolean): Promise<{ times: number[]; statuses: Set<number> }> {
  const times: number[] = [];
  const statuses = new Set<number>();
  while (!until()) {
    const id = randomUUID();
    for (const ask of [() => quiet.write(id), () => quiet.read(id)]) {
      const began = performance.now();
      statuses.add((await ask()).status);
      times.push(performance.now() - began);
    }
  }
  return { times, statuses };
}

const percentile = (times: number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;

describe('a tenant that takes all that it can', () => {
  it('tenant.noisy-neighbour: costs another one no response', async () => {
    const seconds = (milliseconds: number) => {
      const end = performance.now() + milliseconds;
      return () => performance.now() > end;
    };
    await live(seconds(1_000));
    const calm = await live(seconds(3_000));
    const isOver = seconds(8_000);
    let made = 0;
    const shouting = noises.map(async (shout) => {
      while (!isOver()) {
        await shout();
        made++;
      }
    });
    const busy = await live(isOver);
    await Promise.all(shouting);
    const figures = ({ times }: { times: number[] }) =>
      `p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
    console.log(`calm: ${figures(calm)}; beside ${made} loud requests: ${figures(busy)}`);
    expect(made).toBeGreaterThan(0);
    expect([...busy.statuses].sort()).toEqual([200, 201]);
  }, 60_000);
});
