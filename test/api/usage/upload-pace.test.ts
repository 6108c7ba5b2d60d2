// Uploads that come faster than their workspace may send.
import { expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { put } from '../../harness/file-app.ts';
import { scenario } from '../../harness/scenario.ts';
import type { LogEvent } from '../../../api/logging/events.ts';
import { SpentShares } from '../../../api/logging/spent-shares.ts';
import type { Policies } from '../../../api/policies/effective.ts';
import { UploadPace } from '../../../api/usage/upload-pace.ts';

const mebibyte = 1_048_576;

/** The pace of one of so many processes, at one MB a second, and what it logs. */
function paceOf(workers: number) {
  const events: LogEvent[] = [];
  const policies: Policies = {
    range: () => Promise.resolve({ min: 1, max: 1, value: 1 }),
    toggle: () => Promise.resolve(false),
    set: () => Promise.resolve([]),
  };
  const spentShares = new SpentShares({ observe: (event) => events.push(event), now: () => new Date() });
  return { pace: new UploadPace({ policies, spentShares, workers, now: () => performance.now() }), events };
}

async function millisecondsOf(work: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
}

it('wait as long as their bytes take, together, and those of another workspace do not', async () => {
  const { pace, events } = paceOf(1);
  const began = performance.now();
  // A second's bytes may come at once.
  await pace.take('a', mebibyte);
  expect(events).toEqual([]);
  const third = () => pace.take('a', mebibyte / 3);
  const [other] = await Promise.all([millisecondsOf(pace.take('b', mebibyte)), third(), third()]);
  const waited = performance.now() - began;
  expect(waited).toBeGreaterThan(600);
  expect(other).toBeLessThan(waited);
  expect(events).toMatchObject([{ type: 'share_spent', share: 'quota.upload_mb_per_sec', workspace: 'a' }]);
});

it('share the rate with the other processes', async () => {
  const { pace } = paceOf(2);
  expect(await millisecondsOf(pace.take('a', mebibyte * 0.8))).toBeGreaterThan(550);
});

it('are stored as a whole, only later', async () => {
  const { workspace: own, app, admin } = await scenario();
  const policy = { kind: 'range', min: 1, max: 1 };
  expectOk(await own.admin.put(`${own.path}/policies/quota.upload_mb_per_sec`, policy));
  const upload = async () => expect((await put(admin, app, Buffer.alloc(2.5 * mebibyte))).status).toBe(201);
  expect(await millisecondsOf(upload())).toBeGreaterThan(1_400);
  expect(expectOk(await admin.get(`${app.path}/files`)).items).toMatchObject([{ size: 2.5 * mebibyte }]);
  expect(expectOk(await admin.get(`${app.path}/usage`)).quotas.upload_mb_per_sec).toBe(1);
});
