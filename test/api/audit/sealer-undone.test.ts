// Entries of changes that were rolled back.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Sealer } from '../../../api/audit/sealer.ts';
import { controlChain } from '../../../storage/audit/chain.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let installation: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await installation.remove();
});

/** Rounds begin at once, one after the other, instead of five a second: answers how many have begun. */
function hastened(): () => number {
  const { setTimeout: wait } = globalThis;
  let rounds = 0;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(
    ((run: () => void, milliseconds?: number) =>
      milliseconds === 200
        ? wait(() => {
          rounds++;
          run();
        }, 0)
        : wait(run, milliseconds)) as typeof setTimeout,
  );
  return () => rounds;
}

it('are looked for as long as a transaction may take, and no longer', async () => {
  const { databases, secrets } = storage;
  const rounds = hastened();
  const looks = vi.spyOn(databases.control, 'transaction');
  const seals = new Sealer({ databases, secrets, observe: (event) => expect.unreachable(event.type) });
  seals.enqueue(controlChain, randomUUID());
  await expect.poll(rounds, { timeout: 30_000 }).toBeGreaterThan(100);
  // It looks for whatever is still waited for.
  await seals.close();
  expect(looks).toHaveBeenCalledTimes(rounds());
});
