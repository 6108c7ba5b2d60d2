// Entries that wait for their seals while their workspace is deleted.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Sealer } from '../../../api/audit/sealer.ts';
import { auditWorkspace } from '../../../api/audit/write.ts';
import { createWorkspace } from '../../../api/workspaces/create.ts';
import { sealedAmong, workspaceChain } from '../../../storage/audit/chain.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { uuidV7Source } from '../../../storage/sql/ids.ts';
import { markDropping } from '../../../storage/control/tenant-databases.ts';
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
afterEach(() => void vi.restoreAllMocks());

function workspace() {
  return createWorkspace(bareDeps(storage, { now, newId }), { name: 'Acme' }, {
    principal: { role: 'master_admin', id: newId(), jti: newId(), issuedAt: 0, expiresAt: 0 },
    origin: { requestId: 'test', ip: '127.0.0.1', userAgent: '' },
    now: now(),
  });
}

it('are dropped with the workspace, and their database is not connected to again', async () => {
  const { databases, secrets } = storage;
  const { database } = await workspace();
  await databases.control.transaction(async (sql) => {
    await sql`delete from control.workspaces where database = ${database}`;
    await markDropping(sql, database);
  });
  await dropMarked(databases);
  const failures: unknown[] = [];
  const seals = new Sealer({ databases, secrets, observe: (event) => void failures.push(event) });
  const reached = vi.spyOn(databases, 'workspace');
  seals.enqueue(workspaceChain(database), randomUUID());
  await expect.poll(() => reached.mock.calls.length, { timeout: 5_000, interval: 20 }).toBe(1);
  // A last round for whatever still waits.
  await seals.close();
  expect(reached).toHaveBeenCalledTimes(1);
  expect(failures).toEqual([]);
});

it('are kept while it is unknown whether the workspace was deleted, and the failure is logged once', async () => {
  const { databases, secrets } = storage;
  const { database } = await workspace();
  const chain = workspaceChain(database);
  const id = newId();
  const connection = databases.workspace(database);
  const act = { actor: 'someone', action: 'act', target: 'a target' };
  await connection.transaction((sql) => auditWorkspace(sql, { newId: () => id, now }, act));
  const { auditor } = storage.provisioning.names.groups;
  const tenant = databases.provisioner(database);
  const { control } = databases;
  const rename = (column: string) =>
    tenant.transaction((sql) =>
      sql.unsafe(`set local role ${auditor}; alter table workspace.audit_queue rename column ${column}`)
    );
  await storage.upkeep.settled();
  await rename('id to hidden');
  await control.run((sql) => sql`alter table control.tenant_databases rename to hidden`);
  const failures: unknown[] = [];
  const seals = new Sealer({ databases, secrets, observe: (event) => void failures.push(event) });
  const reached = vi.spyOn(databases, 'workspace');
  seals.enqueue(chain, id);
  await expect.poll(() => reached.mock.calls.length, { timeout: 5_000, interval: 20 }).toBeGreaterThan(3);
  await rename('hidden to id');
  await control.run((sql) => sql`alter table control.hidden rename to tenant_databases`);
  await seals.close();
  expect(await connection.run((sql) => sealedAmong(sql, chain, [id]))).toEqual([id]);
  expect(failures).toHaveLength(1);
});
