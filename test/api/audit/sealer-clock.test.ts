// Sealing while the clock of the machine is set.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { Sealer } from '../../../api/audit/sealer.ts';
import { auditSystem } from '../../../api/audit/write.ts';
import { controlChain, sealedAmong } from '../../../storage/audit/chain.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { auditDeps } from '../../harness/audit-log.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let installation: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
});
afterAll(async () => {
  vi.useRealTimers();
  await installation.remove();
});

it('audit.integrity: an entry whose act is under way while the clock is set an hour on is sealed when it ends', async () => {
  const { databases, secrets } = storage;
  const failures: unknown[] = [];
  const seals = new Sealer({ databases, secrets, observe: (event) => void failures.push(event) });
  const isSealed = async (id: string) =>
    (await databases.control.run((sql) => sealedAmong(sql, controlChain, [id]))).length === 1;
  const act = { actor: 'someone', action: 'act', target: 'a target', details: {} };
  const append = (id: string) =>
    databases.control.transaction((sql) => auditSystem(sql, { ...auditDeps, newId: () => id }, act));
  const [slow, quick] = [randomUUID(), randomUUID()];
  const soon = { timeout: 5_000, interval: 20 };
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => seals.close());
  await databases.control.transaction(async (sql) => {
    await auditSystem(sql, { ...auditDeps, newId: () => slow }, act);
    seals.enqueue(controlChain, slow);
    vi.setSystemTime(Date.now() + 3_600_000);
    await append(quick);
    seals.enqueue(controlChain, quick);
    // The round that seals this one looks for the other one too.
    await expect.poll(() => isSealed(quick), soon).toBe(true);
  });
  await expect.poll(() => isSealed(slow), soon).toBe(true);
  expect(failures).toEqual([]);
});
