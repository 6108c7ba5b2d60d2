// Entries that wait for their seals while their workspace is deleted.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Seals } from '../../../api/audit/seals.ts';
import { createWorkspace } from '../../../api/workspaces/create.ts';
import { workspaceChain } from '../../../storage/audit/chain.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { uuidV7Source } from '../../../storage/ids.ts';
import { markDropping } from '../../../storage/tenant-databases.ts';
import { bareDeps } from '../../harness/bare-app.ts';
import { dropMarked, type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let installation: OwnInstallation;
let storage: Storage;
const newId = uuidV7Source(Date.now);
const now = () => new Date();

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
});
afterAll(() => installation.remove());

it('are given up with it, and their database is left alone', async () => {
  const { databases, secrets } = storage;
  const { database } = await createWorkspace(bareDeps(storage, { now, newId }), { name: 'Acme' }, {
    principal: { role: 'master_admin', id: newId(), jti: newId(), issuedAt: 0, expiresAt: 0 },
    origin: { requestId: 'test', ip: '127.0.0.1', userAgent: '' },
    now: now(),
  });
  await databases.control.transaction(async (sql) => {
    await sql`delete from control.workspaces where database = ${database}`;
    await markDropping(sql, database);
  });
  await dropMarked(databases);
  const failures: unknown[] = [];
  const seals = new Seals({ databases, secrets, observe: (event) => void failures.push(event) });
  const reached = vi.spyOn(databases, 'workspace');
  seals.note(workspaceChain(database), randomUUID());
  await expect.poll(() => reached.mock.calls.length, { timeout: 5_000, interval: 20 }).toBe(1);
  // A last round for whatever still waits.
  await seals.close();
  expect(reached).toHaveBeenCalledTimes(1);
  expect(failures).toEqual([]);
});
