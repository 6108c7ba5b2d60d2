// The numbers and totals that pages of audit logs are found by, after whatever can happen to a log, against plain counts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditApp, auditWorkspace } from '../../../api/audit/write.ts';
import { sealBatch } from '../../../storage/audit/chain.ts';
import { type AuditScope, listAudit } from '../../../storage/audit/listing.ts';
import { pruneBatch } from '../../../storage/audit/retention.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { type Migrations, readMigrations } from '../../../storage/boot/migrate.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import { transactionAsConnection } from '../../../storage/connections/transaction-as-connection.ts';
import { auditDeps, systemLog, workspaceLog } from '../../harness/audit-log.ts';
import { expectExact, expectSound, exportedIds, plainRows } from '../../harness/audit-plain.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { numbersFrom } from '../../harness/random-numbers.ts';
import { makeApp } from '../../harness/tenants.ts';

const actors = ['ada@example.com', 'bob@example.com', 'system', ''];
const actions = ['login_success', 'login_failed', 'rule_set', 'Set%_\\', 'a'];

describe('audit.paging: a log that is written by many at once, sealed in pieces and pruned', () => {
  let own: OwnInstallation;
  let storage: Storage;
  beforeAll(async () => {
    own = await ownInstallation();
    storage = await own.open();
  });
  afterAll(() => own.remove());

  it('has exact totals and pages all the while, also when sealing or retention dies half-way', {
    timeout: 120_000,
  }, async () => {
    const log = await workspaceLog(storage);
    const schemas = [log.schema, await makeApp(storage, log.database)];
    const scopes: AuditScope[] = [
      { schema: 'workspace' },
      ...schemas.map((appSchema) => ({ schema: 'workspace' as const, appSchema })),
    ];
    const random = numbersFrom(7);
    const act = async () => {
      const event = {
        actor: actors[random(actors.length)] ?? '',
        action: actions[random(actions.length)] ?? '',
        target: 'a target',
      };
      const schema = schemas[random(4)];
      const rolledBack = random(8) === 0;
      const connection = schema === undefined
        ? storage.databases.workspace(log.database)
        : storage.databases.app(log.database, schema);
      await connection.transaction(async (sql) => {
        await (schema === undefined ? auditWorkspace : auditApp)(sql, auditDeps, event);
        if (rolledBack) throw new Error('rolled back');
      }).catch((error: unknown) => expect(String(error)).toBe('Error: rolled back'));
    };
    const seal = () => sealBatch(log.connection, log.chain, storage.secrets);
    const prune = async (connection: Connection) => {
      const plain = await plainRows(connection);
      const before = plain[Math.floor(plain.length * 0.6)]?.ts ?? new Date();
      return await pruneBatch(connection, log.chain, { key: storage.secrets, before, now: new Date() });
    };
    for (let round = 0; round < 8; round++) {
      await Promise.all([
        ...Array.from({ length: 12 }, act),
        seal(),
        seal(),
        ...Array.from({ length: 12 }, act),
      ]);
      if (round % 2 === 1) await seal();
      await expectDeath(log.connection, (connection) => sealBatch(connection, log.chain, storage.secrets));
      if (round % 3 === 2) {
        await expectDeath(log.connection, prune);
        expect(await prune(log.connection)).toBeGreaterThan(0);
      }
      await expectSound(log.connection);
      await expectExact(log.connection, scopes);
    }
    await seal();
    expect(await log.verify()).toMatchObject({ waiting: 0, faulty: 0 });
    const soon = new Date(Date.now() + 60_000);
    const key = storage.secrets;
    while (await pruneBatch(log.connection, log.chain, { key, before: soon, now: new Date() }) > 0);
    await Promise.all(Array.from({ length: 12 }, act));
    await seal();
    await expectSound(log.connection);
    await expectExact(log.connection, scopes);
  });

  it('is the same for the log of the system', async () => {
    const log = systemLog(storage);
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 25; index++) {
        const actor = actors[(index * 3 + round) % 4] ?? '';
        await log.append(actions[(index + round) % 5] ?? '', { actor });
      }
      if (round < 3) await log.seal();
      if (round === 1) {
        const before = (await plainRows(log.connection, 'control'))[20]?.ts ?? new Date();
        const key = storage.secrets;
        expect(await pruneBatch(log.connection, log.chain, { key, before, now: new Date() })).toBeGreaterThan(
          20,
        );
      }
      await expectExact(log.connection, [{ schema: 'control' }]);
    }
  });

  it('is exported with each row that was there at the beginning, once, while rows come and are sealed', async () => {
    const log = await workspaceLog(storage);
    for (let index = 0; index < 30; index++) await log.append('one');
    await log.seal();
    for (let index = 0; index < 60; index++) await log.append(index % 2 === 0 ? 'one' : 'two');
    const there = await plainRows(log.connection);
    let steps = 0;
    const meanwhile = async () => {
      await log.append('two');
      if (steps++ % 3 === 0) await sealBatch(log.connection, log.chain, storage.secrets);
    };
    for (const filter of [{}, { action: 'one' }]) {
      const ids = await exportedIds(log.connection, { scope: { schema: 'workspace' }, filter }, meanwhile);
      const wanted = there.filter(({ action }) => filter.action === undefined || action === filter.action);
      const known = new Set(wanted.map(({ id }) => id));
      expect(ids.filter((id) => known.has(id))).toEqual(wanted.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('is exported to its end when retention removes what would have come next', async () => {
    const log = await workspaceLog(storage);
    for (let index = 0; index < 30; index++) await log.append('one');
    await log.seal();
    const soon = new Date(Date.now() + 60_000);
    const ids = await exportedIds(
      log.connection,
      { scope: { schema: 'workspace' }, filter: { action: 'one' } },
      async () => {
        await pruneBatch(log.connection, log.chain, { key: storage.secrets, before: soon, now: new Date() });
      },
    );
    expect(ids).toHaveLength(7);
  });
});

/** Work in a transaction whose backend goes away before the commit. */
async function expectDeath(
  connection: Connection,
  work: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  let worked = false;
  const end = await connection.transaction(async (sql) => {
    await work(transactionAsConnection(sql));
    worked = true;
    await sql`select pg_terminate_backend(pg_backend_pid())`;
  }).then(() => 'committed', () => 'dead');
  expect([worked, end]).toEqual([true, 'dead']);
}

it('audit.paging: a log that was sealed before rows had numbers gets them', async () => {
  const own = await ownInstallation();
  try {
    const all = await readMigrations();
    const until = (migrations: Migrations[keyof Migrations]) =>
      migrations.slice(0, migrations.findIndex(({ name }) => name.endsWith('_audit_places.sql')));
    const before = await own.open({
      migrations: { ...all, control: until(all.control), workspace: until(all.workspace) },
    });
    const early = await workspaceLog(before);
    for (let index = 0; index < 40; index++) {
      const actor = actors[index % 3] ?? '';
      const action = actions[(index * 7) % 5] ?? '';
      await (index % 4 === 0 ? early.appendInApp(action, { actor }) : early.append(action, { actor }));
      if (index === 30) await early.seal();
    }
    await early.tamper(`delete from workspace.audit_log where id = '${await early.idAt(9)}'`);
    const { head } = await early.verify();
    await before.close();
    const storage = await own.open();
    const log = { ...early, connection: storage.databases.provisioner(early.database) };
    await expectSound(log.connection);
    const missing = await log.connection.run((sql) =>
      sql`select seq::int, action, actor from workspace.audit_seals where action = ''`
    );
    expect([...missing]).toEqual([{ seq: 9, action: '', actor: '' }]);
    await sealBatch(log.connection, log.chain, storage.secrets);
    await expectSound(log.connection);
    const found = await log.connection.run((sql) =>
      listAudit(
        sql,
        { scope: { schema: 'workspace' }, filter: { action: 'login' } },
        { page: 1, per_page: 200, count: true },
      )
    );
    const plain = (await plainRows(log.connection)).filter(({ action }) => action.includes('login'));
    expect([found.total_items, found.items.map(({ id }) => id)]).toEqual([
      plain.length,
      plain.map(({ id }) => id),
    ]);
    expect(head.seq).toBe(31);
  } finally {
    await own.remove();
  }
});
