// What a server that has worked gives back once it rests.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { apiPidOf } from '../harness/kills.ts';
import { processorSeconds, residentMemory } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ config: unlimited });
});
afterAll(() => server.stop());

it('the memory that its garbage took', { timeout: 120_000 }, async () => {
  const { master, records } = await openStorefront(server.url);
  const title = 'x'.repeat(100);
  for (let count = 0; count < 100; count++) expectOk(await master.post(records, { title }));
  const pid = await apiPidOf(server);
  const atFirst = await residentMemory(pid);
  const before = await processorSeconds(pid);
  // More than it takes for a collection to be worth it.
  while (await processorSeconds(pid) - before < 4) {
    await Promise.all(Array.from({ length: 16 }, () => master.get(`${records}?per_page=100`)));
  }
  const busy = await residentMemory(pid);
  // Left alone, V8 keeps all of it.
  await expect.poll(() => residentMemory(pid), { timeout: 60_000, interval: 500 })
    .toBeLessThan((atFirst + busy) / 2);
  expectOk(await master.get(records));
});
