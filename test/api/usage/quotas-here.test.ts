// The quotas of one process: writes that fail, and the share of one of several processes.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RangePolicy } from '../../../api/policies/definitions.ts';
import { unlimitedQuota } from '../../../api/policies/quota-definitions.ts';
import type { Policies } from '../../../api/policies/effective.ts';
import { Quotas } from '../../../api/usage/quotas.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { StorageError, type StorageFailure } from '../../../storage/errors.ts';
import { type BareApp, bareApp } from '../../harness/bare-app.ts';

let own: BareApp;
let app: AppDefinition;

beforeAll(async () => {
  own = await bareApp();
  await own.define('notes', []);
  app = await own.definition();
});
afterAll(() => own.end());

/** The quotas of one of so many processes, under which an app has one record and ten requests in a second. */
function quotasOf(workers: number): Quotas {
  const { databases, policies, policyCache: policyCache } = own.deps;
  const limits: Partial<Record<RangePolicy, number>> = { 'quota.records': 1, 'quota.requests_per_sec': 10 };
  const range: Policies['range'] = (name) =>
    Promise.resolve({ min: 0, max: limits[name] ?? unlimitedQuota, value: 0 });
  const sharing = { isAlone: workers === 1, workers, worker: 0 };
  return new Quotas({
    databases,
    disk: { requireSpace: () => undefined },
    policies: { ...policies, range },
    policyCache,
    sharing,
    now: () => 1_000,
  });
}

/** A write that ends in a failure, be it done or not. */
function fail(quotas: Quotas, failure: StorageFailure, work: () => Promise<unknown>): Promise<unknown> {
  return quotas.write(app, { records: 1, input: {} }, async () => {
    await work();
    throw new StorageError(failure, 'over');
  });
}

it('release the claim of a write that failed, and keep that of one whose connection broke', async () => {
  const quotas = quotasOf(1);
  await expect(fail(quotas, 'conflict', () => Promise.resolve())).rejects.toMatchObject({
    failure: 'conflict',
  });
  await expect(fail(quotas, 'unavailable', () => own.create('notes'))).rejects.toMatchObject({
    failure: 'unavailable',
  });
  await expect(fail(quotas, 'conflict', () => own.create('notes'))).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
  expect(await own.count('notes')).toBe(1);
});

it('grant one process its share of the requests in a second', async () => {
  for (const [workers, share] of [[1, 10], [4, 2]] as const) {
    const quotas = quotasOf(workers);
    for (let count = 0; count < share; count++) await quotas.request(app);
    await expect((async () => await quotas.request(app))()).rejects.toMatchObject({ code: 'quota_exceeded' });
  }
});
