// Two API processes on one port: a quota holds for both together, and use is that of both.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { openPair, type Pair, untilBoth } from '../harness/two-processes.ts';

const most = 40;
/** No more can be under way elsewhere, as this test writes: see `write`. */
const lanes = 4;
let pair: Pair;

beforeAll(async () => {
  pair = await openPair();
  const quota = { kind: 'range', min: 0, max: most };
  expectOk(await pair.ask('PUT', `${pair.app}/policies/quota.records`, quota));
  // The other process has heard of it when both refuse what is above.
  await untilBoth(
    () => pair.ask('GET', `${pair.app}/usage`),
    ({ body }) => body.quotas.records === most,
  );
});
afterAll(() => pair.stop());

async function usage() {
  return expectOk(await pair.ask('GET', `${pair.app}/usage`));
}

it('fills up to the last record, and never beyond what was under way in the other process', {
  timeout: 60_000,
}, async () => {
  let requests = 0;
  let made = 0;
  const write = async () => {
    while (made < most) {
      requests++;
      const { status } = await pair.ask('POST', pair.records, {});
      if (status === 201) made++;
      else expect(status).toBe(403);
    }
  };
  await Promise.all(Array.from({ length: lanes }, write));
  const { records: stored } = await usage();
  expect(stored).toBe(made);
  expect(stored).toBeGreaterThanOrEqual(most);
  expect(stored).toBeLessThanOrEqual(most + lanes);
  const after = await Promise.all(Array.from({ length: 40 }, () => pair.ask('POST', pair.records, {})));
  expect(after.map(({ status }) => status)).toEqual(after.map(() => 403));
  requests += after.length;
  // Each process adds what it counted within seconds.
  await vi.waitUntil(async () => (await usage()).requests_24h >= requests, {
    timeout: 10_000,
    interval: 250,
  });
});

it('adds up nothing of an app for a later one of its id, whichever process counted it', {
  timeout: 60_000,
}, async () => {
  const [apps, path] = ['/api/workspaces/acme/apps', '/api/workspaces/acme/apps/again'];
  const usedIn = async (place: string) =>
    Number(expectOk(await pair.ask('GET', `${place}/usage`)).requests_24h);
  const requests = 20;
  const make = async () => expectOk(await pair.ask('POST', apps, { id: 'again', name: 'Again' }));
  await make();
  const before = await usedIn('/api/workspaces/acme');
  await Promise.all(
    Array.from({ length: requests }, async () => expectOk(await pair.ask('GET', `${path}/collections`))),
  );
  expectOk(await pair.ask('DELETE', path));
  await make();
  // The workspace's own is of both, once each process has added what it counted.
  await vi.waitUntil(async () => await usedIn('/api/workspaces/acme') > before + requests, {
    timeout: 50_000,
    interval: 250,
  });
  expect(await usedIn(path)).toBe(1);
});
