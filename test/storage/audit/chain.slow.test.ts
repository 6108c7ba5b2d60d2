// The chain of seals on an audit log: how it grows, and what breaks it.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { auditWorkspace } from '../../../api/audit/write.ts';
import { sealBatch } from '../../../storage/audit/chain.ts';
import { verifyChain } from '../../../storage/audit/verify.ts';
import { auditDeps, type OwnLog, systemLog, workspaceLog } from '../../harness/audit-log.ts';
import { ownInstallation } from '../../harness/database.ts';

const own = await ownInstallation();
afterAll(() => own.remove());
const storage = await own.open();

type Log = Awaited<ReturnType<typeof workspaceLog>>;

/** A workspace's log of six sealed rows, two of them the app's. */
async function sealedLog(): Promise<Log> {
  const log = await workspaceLog(storage);
  for (let round = 0; round < 4; round++) await log.append('user_verify', { details: { round } });
  for (let round = 0; round < 2; round++) await log.appendInApp('rule_set', { details: { round } });
  await log.seal();
  return log;
}

const whats = async (log: OwnLog, expected?: { seq: number; hash: string }) =>
  (await log.verify(expected)).faults.map(({ seq, what }) => `${seq}: ${what}`);

describe('audit.integrity: seals', () => {
  it('are chained from the first row to the last, of both scopes in one chain', async () => {
    const log = await sealedLog();
    const verdict = await log.verify();
    expect(verdict).toMatchObject({ sound: 6, waiting: 0, removed: 0, faulty: 0, faults: [] });
    expect(verdict.head).toEqual({ seq: 6, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await log.append('user_verify');
    expect(await log.verify()).toMatchObject({ sound: 6, waiting: 1, faulty: 0 });
    await log.seal();
    expect(await log.verify()).toMatchObject({ sound: 7, waiting: 0, faulty: 0 });
    const { hash, seq } = verdict.head;
    expect(await whats(log, { hash, seq })).toEqual([]);
  });

  it('are made for the system scope too', async () => {
    const log = systemLog(storage);
    await log.append('workspace_create');
    await log.seal();
    const { sound, faulty } = await log.verify();
    expect([sound > 0, faulty]).toEqual([true, 0]);
  });

  it('need the master key, and are of one log only', async () => {
    const log = await sealedLog();
    const elsewhere = { ...log.chain, name: 'w_another' };
    const { faulty, sound } = await verifyChain(log.connection, elsewhere, { key: storage.secrets });
    expect([faulty, sound]).toEqual([6, 0]);
    const stranger = { auditSeal: () => Buffer.alloc(32) };
    await log.append('user_verify');
    await sealBatch(log.connection, log.chain, stranger);
    expect(await whats(log)).toEqual(['7: the row, or its seal, was changed']);
  });

  it('reach every row, however long its transaction takes and however many seal and append at once', async () => {
    const log = await workspaceLog(storage);
    const pool = storage.databases.workspace(log.database);
    const event = { actor: 'a', action: 'user_verify', target: 'b' };
    const append = (milliseconds: number, fails: boolean) =>
      pool.transaction(async (sql) => {
        await auditWorkspace(sql, auditDeps, event);
        await pause(milliseconds);
        if (fails) throw new Error('rolled back');
      }).catch((error: unknown) => String(error));
    let appending = true;
    const sealing = [log.connection, pool].map(async (connection) => {
      while (appending) await sealBatch(connection, log.chain, storage.secrets);
    });
    const rounds = Array.from({ length: 60 }, (_none, index) => append((index * 7) % 40, index % 5 === 0));
    const ends = await Promise.all(rounds);
    appending = false;
    await Promise.all(sealing);
    await log.seal();
    expect(ends.filter((end) => end === 'Error: rolled back')).toHaveLength(12);
    expect(await log.verify()).toMatchObject({ sound: 48, waiting: 0, faulty: 0, head: { seq: 48 } });
  });
});

describe('audit.integrity: verification finds', () => {
  it.each<[string, (log: Log) => Promise<string>, string[]]>([
    [
      'a changed row',
      async (log) => `update workspace.audit_log set actor = 'nobody' where id = '${await log.idAt(3)}'`,
      [
        '3: the row, or its seal, was changed',
      ],
    ],
    [
      'a moved instant',
      async (log) =>
        `update workspace.audit_log set ts = ts + interval '1 ms' where id = '${await log.idAt(1)}'`,
      [
        '1: the row, or its seal, was changed',
      ],
    ],
    [
      'changed details',
      async (log) =>
        `update workspace.audit_log set details = '{"round": 7}' where id = '${await log.idAt(2)}'`,
      [
        '2: the row, or its seal, was changed',
      ],
    ],
    [
      'an app’s row made the workspace’s',
      async (log) =>
        `update workspace.audit_log set app = null, app_schema = null where id = '${await log.idAt(5)}'`,
      [
        '5: the row, or its seal, was changed',
      ],
    ],
    [
      'a row that is missing',
      async (log) => `delete from workspace.audit_log where id = '${await log.idAt(4)}'`,
      ['4: the row is missing'],
    ],
    [
      'an end that was cut off, and a head that was set back without its seal',
      async (log) =>
        `delete from workspace.audit_log where id in ('${await log.idAt(5)}', '${await log.idAt(6)}');
       delete from workspace.audit_seals where seq >= 5;
       update workspace.audit_head set seq = 4`,
      ['4: the last seal is not the one it was'],
    ],
    [
      'a row that is missing with its seal',
      async (log) =>
        `delete from workspace.audit_log where id = '${await log.idAt(4)}';
       delete from workspace.audit_seals where seq = 4`,
      ['4: the seal and its row are missing'],
    ],
    [
      'a gap that was closed',
      async (log) =>
        `delete from workspace.audit_log where id = '${await log.idAt(4)}';
       delete from workspace.audit_seals where seq = 4;
       update workspace.audit_seals set seq = seq - 1 where seq = 5;
       update workspace.audit_seals set seq = seq - 1 where seq = 6;
       update workspace.audit_head set seq = 5`,
      [
        '4: the row, or its seal, was changed',
        '5: the row, or its seal, was changed',
      ],
    ],
    ['two rows that changed places', async (log) => {
      const [two, three] = [await log.idAt(2), await log.idAt(3)];
      return `update workspace.audit_seals set id = gen_random_uuid() where seq = 2;
        update workspace.audit_seals set id = '${two}' where seq = 3;
        update workspace.audit_seals set id = '${three}' where seq = 2`;
    }, ['2: the row, or its seal, was changed', '3: the row, or its seal, was changed']],
    ['a missing end', async (log) =>
      `delete from workspace.audit_log where id = '${await log.idAt(6)}';
       delete from workspace.audit_seals where seq = 6`, ['6: the seal and its row are missing']],
    ['a row that was put in behind the sealer’s back', () =>
      Promise.resolve(
        `insert into workspace.audit_log (id, ts, actor, action, target, details)
         values (gen_random_uuid(), now(), 'x', 'y', 'z', '{}'); delete from workspace.audit_queue`,
      ), ['null: the row was never sealed']],
    ['a row that went before it was sealed', () =>
      Promise.resolve(
        `insert into workspace.audit_log (id, ts, actor, action, target, details)
         values (gen_random_uuid(), now(), 'x', 'y', 'z', '{}'); delete from workspace.audit_log where actor = 'x'`,
      ), ['null: the row went missing before it was sealed']],
    [
      'a beginning that was cut off',
      async (log) =>
        `delete from workspace.audit_log where id in ('${await log.idAt(1)}', '${await log.idAt(2)}');
       delete from workspace.audit_seals where seq <= 2;
       insert into workspace.audit_checkpoints select 2, hash, 2, now(), '' from workspace.audit_head`,
      [
        '2: this checkpoint was not left by retention',
        '3: the row, or its seal, was changed',
      ],
    ],
    [
      'a beginning that was cut off with knowledge of the seals',
      async (log) =>
        `insert into workspace.audit_checkpoints
         select 2, hash, 2, now(), decode(repeat('ab', 32), 'hex') from workspace.audit_seals where seq = 2;
       delete from workspace.audit_log where id in ('${await log.idAt(1)}', '${await log.idAt(2)}');
       delete from workspace.audit_seals where seq <= 2`,
      ['2: this checkpoint was not left by retention'],
    ],
  ])('%s', async (_what, text, faults) => {
    const log = await sealedLog();
    await log.tamper(await text(log));
    expect(await whats(log)).toEqual(faults);
  });

  it('an end that was cut off together with the head, when a head was kept elsewhere', async () => {
    const log = await sealedLog();
    const { head } = await log.verify();
    await log.tamper(`delete from workspace.audit_log where id = '${await log.idAt(6)}';
      delete from workspace.audit_seals where seq = 6;
      update workspace.audit_head set seq = 5, hash = (select hash from workspace.audit_seals where seq = 5)`);
    expect(await whats(log)).toEqual([]);
    expect(await whats(log, head)).toEqual(['6: the chain ends at 5: its end was cut off']);
    await log.append('user_verify');
    await log.seal();
    expect(await whats(log, head)).toEqual(['6: the seal is not the one that was kept']);
  });
});
