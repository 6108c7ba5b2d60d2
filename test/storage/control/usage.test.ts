// The use of apps, added up while workspaces go.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import { makeDatabase } from '../../../storage/provision/database.ts';
import { addActivity, sumActivity } from '../../../storage/control/usage.ts';
import { deleteWorkspace, insertWorkspace } from '../../../storage/control/workspaces.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { somebodyWaits } from '../../harness/waiting.ts';

const now = new Date('2026-01-02T03:00:00.000Z');
const since = new Date('2026-01-01T03:00:00.000Z');
let own: OwnInstallation;
let storage: Storage;
const databases = new Map<string, string>();

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  for (const id of ['going', 'staying']) {
    const database = await makeDatabase(storage.provisioning);
    databases.set(id, database);
    await storage.databases.control.run((sql) => insertWorkspace(sql, { id, name: id, database, now }));
  }
});
afterAll(() => own.remove());

it('of a workspace that is being deleted is left out, and that of the others is added', async () => {
  const { control } = storage.databases;
  const used = ['going', 'staying'].map((workspace) => ({
    workspace,
    database: databases.get(workspace) ?? '',
    schema: `a_${workspace}`,
    requests: 3,
    hook_runs: 1,
    hook_cpu_ms: 40,
  }));
  const { adding } = await control.transaction(async (sql) => {
    await deleteWorkspace(sql, { id: 'going', database: databases.get('going') ?? '' });
    const adding = control.run((other) => addActivity(other, now, used));
    while (!await somebodyWaits(sql));
    return { adding };
  });
  await adding;
  const activity = (workspace: string) => control.run((sql) => sumActivity(sql, { workspace, since }));
  expect(await activity('staying')).toEqual({ requests: 3, hook_runs: 1, hook_cpu_ms: 40 });
  expect(await activity('going')).toEqual({ requests: 0, hook_runs: 0, hook_cpu_ms: 0 });
});
