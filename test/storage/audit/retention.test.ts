// Removing old entries: what goes, what stays, and that the chain still holds.
import { afterAll, expect, it } from 'vitest';
import { listAudit } from '../../../storage/audit/listing.ts';
import { pruneBatch } from '../../../storage/audit/retention.ts';
import { workspaceLog } from '../../harness/audit-log.ts';
import { ownInstallation } from '../../harness/database.ts';

const own = await ownInstallation();
afterAll(() => own.remove());
const storage = await own.open();

const page = { page: 1, per_page: 50, count: true };
const soon = () => new Date(Date.now() + 60_000);

it('audit.integrity: retention removes sealed rows from the first on, and its checkpoint holds the chain', async () => {
  const log = await workspaceLog(storage);
  for (const action of ['one', 'two', 'three']) await log.append(action);
  await log.appendInApp('four');
  await log.seal();
  const kept = await log.verify();
  await log.append('unsealed');
  const prune = (before: Date) =>
    pruneBatch(log.connection, log.chain, { key: storage.secrets, before, now: new Date() });
  expect(await prune(new Date(Date.now() - 60_000))).toBe(0);
  expect(await prune(soon())).toBe(4);
  expect(await prune(soon())).toBe(0);
  expect(await log.verify(kept.head)).toMatchObject({ sound: 0, waiting: 1, removed: 4, faulty: 0 });
  const another = await log.verify({ ...kept.head, hash: '00'.repeat(32) });
  expect(another.faults).toEqual([{
    seq: kept.head.seq,
    id: null,
    what: 'the seal is not the one that was kept',
  }]);
  const all = await log.connection.run((sql) =>
    listAudit(sql, { scope: { schema: 'workspace' }, filter: {} }, page)
  );
  expect([all.total_items, all.items.map(({ action }) => action)]).toEqual([1, ['unsealed']]);
  await log.seal();
  await log.append('later');
  await log.seal();
  expect(await log.verify()).toMatchObject({ sound: 2, waiting: 0, removed: 4, faulty: 0, head: { seq: 6 } });
  expect(await prune(soon())).toBe(2);
  expect(await log.verify()).toMatchObject({ sound: 0, removed: 6, faulty: 0 });
  const totals = await log.connection.run((sql) => sql`select * from workspace.audit_totals`);
  expect(totals).toHaveLength(0);
});

it('audit.integrity: retention keeps what was sealed after a row that stays', async () => {
  const log = await workspaceLog(storage);
  for (const action of ['old', 'young', 'old']) await log.append(action);
  await log.seal();
  await log.tamper(`update workspace.audit_log set ts = ts + interval '1 hour' where action = 'young'`);
  const removed = await pruneBatch(log.connection, log.chain, {
    key: storage.secrets,
    before: soon(),
    now: new Date(),
  });
  expect(removed).toBe(1);
});

it('audit.integrity: a row that was missing before retention is reported afterwards', async () => {
  const log = await workspaceLog(storage);
  for (const action of ['one', 'two', 'three']) await log.append(action);
  await log.seal();
  await log.tamper(`delete from workspace.audit_log where action = 'two'`);
  await pruneBatch(log.connection, log.chain, { key: storage.secrets, before: soon(), now: new Date() });
  const { faults, faulty } = await log.verify();
  expect([faulty, faults.at(0)?.what]).toEqual([1, expect.stringMatching(/missing|retention/)]);
});
