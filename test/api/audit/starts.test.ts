// The audit logs at the start of the server.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keepRetention } from '../../../api/audit/retention.ts';
import { recordSandbox } from '../../../api/audit/sandbox.ts';
import type { Deps } from '../../../api/deps.ts';
import { listAudit } from '../../../storage/audit/listing.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { resolveConfig } from '../../../supervisor/config.ts';
import { auditDeps, systemLog } from '../../harness/audit-log.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

const day = 86_400_000;
let own: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
});
afterAll(() => own.remove());

/** Has a server begin, ten days from now, that keeps entries for so many days. */
async function prune(days: number): Promise<void> {
  const env = { BULKHEAD_AUDIT__RETENTION_DAYS: String(days) };
  const { config } = resolveConfig({ file: undefined, env, flags: [], cwd: '/', terminal: false });
  const { databases, secrets } = storage;
  const now = () => new Date(Date.now() + 10 * day);
  await keepRetention({ config, databases, secrets, now, observe: () => undefined }).close();
}

it('keeps entries for ever without a configured retention', async () => {
  const log = systemLog(storage);
  await log.append('old');
  await log.seal();
  const { sound } = await log.verify();
  for (const days of [0, 11]) {
    await prune(days);
    expect(await log.verify()).toMatchObject({ sound, removed: 0 });
  }
  await prune(9);
  expect(await log.verify()).toMatchObject({ sound: 0, removed: sound, faulty: 0 });
});

it('records the sandbox level once, until it changes', async () => {
  const record = (sandbox: Deps['sandbox']) =>
    recordSandbox({ ...auditDeps, databases: storage.databases, sandbox });
  await record({ level: 'os', shares: 'supervisor', why: 'it works' });
  await record({ level: 'os', shares: 'supervisor', why: 'it works still' });
  await record({ level: 'deno', shares: 'supervisor', why: 'there is no bubblewrap' });
  await record({ level: 'os', shares: 'supervisor', why: 'there is again' });
  const { items } = await storage.databases.control.run((sql) =>
    listAudit(sql, { scope: { schema: 'control' }, filter: { action: 'sandbox_set' } }, {
      page: 1,
      per_page: 10,
      count: false,
    })
  );
  expect(items.map(({ details }) => details['level'])).toEqual(['os', 'deno', 'os']);
});
