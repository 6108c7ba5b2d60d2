// No act without its audit entry: a failing audit write fails the act.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../../api/apps/create.ts';
import type { Caller } from '../../../api/audit/actor.ts';
import { auditSystem, auditWorkspace } from '../../../api/audit/write.ts';
import { createWorkspace } from '../../../api/workspaces/create.ts';
import { listAudit } from '../../../storage/audit/listing.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { uuidV7Source } from '../../../storage/sql/ids.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import { findWorkspace } from '../../../storage/control/workspaces.ts';
import { type BareDeps, bareDeps } from '../../harness/bare-app.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
let storage: Storage;
let deps: BareDeps;
const newId = uuidV7Source(Date.now);
const now = () => new Date();
const page = { page: 1, per_page: 10, count: true };

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  deps = bareDeps(storage, { newId, now });
});
afterAll(() => own.remove());

const by = (): Caller => ({
  principal: { role: 'master_admin', id: newId(), jti: newId(), issuedAt: 0, expiresAt: 0 },
  origin: { requestId: 'request-1', ip: '127.0.0.1', userAgent: 'test' },
  now: now(),
});

/** As its owner, takes from the provisioner the right to append, and gives it back. */
const refusing = (connection: Connection, schema: string) =>
  asAuditor(connection, `revoke insert on ${schema}.audit_log from session_user`);
const accepting = (connection: Connection, schema: string) =>
  asAuditor(connection, `grant insert on ${schema}.audit_log to session_user`);
const asAuditor = (connection: Connection, text: string) =>
  connection.transaction((sql) =>
    sql.unsafe(`set local role ${storage.provisioning.names.groups.auditor}; ${text}`)
  );

it('audit.integrity: a workspace whose entry cannot be written is not made, and its database stays a spare', async () => {
  await refusing(storage.databases.control, 'control');
  await expect(createWorkspace(deps, { id: 'acme', name: 'Acme' }, by())).rejects.toThrow('audit_log');
  await accepting(storage.databases.control, 'control');
  expect(await storage.databases.control.run((sql) => findWorkspace(sql, 'acme'))).toBeUndefined();
  const states = await storage.databases.control.run((sql) =>
    sql`select state from control.tenant_databases`
  );
  expect(states).toEqual([{ state: 'spare' }]);
});

it('audit.integrity: an app whose entry cannot be written is not made, nor its role and schema', async () => {
  const workspace = await createWorkspace(deps, { id: 'apps', name: 'Apps' }, by());
  // It would make the next app ready.
  await storage.upkeep.stop();
  const provisioner = storage.databases.provisioner(workspace.database);
  const state = () =>
    provisioner.run((sql) =>
      sql`select array(select id from workspace.apps order by id) as apps,
        array(select schema from workspace.spare_apps) as ready,
        array(select nspname::text from pg_namespace where nspname like 'a\\_%' order by 1) as schemas`
    );
  const fails = async (id: string) => {
    await refusing(provisioner, 'workspace');
    await expect(createApp(deps, workspace, { id, name: 'Shop', caller: by() })).rejects.toThrow('audit_log');
    await accepting(provisioner, 'workspace');
  };
  // The first takes the schema that is ready, the second makes one.
  for (const id of ['first', 'second']) {
    const before = await state();
    await fails(id);
    expect(await state()).toEqual(before);
    await createApp(deps, workspace, { id, name: 'Shop', caller: by() });
  }
  const [row] = await state();
  expect(row).toMatchObject({ apps: ['first', 'second'], ready: [] });
  expect(row?.['schemas']).toHaveLength(2);
});

it('audit.integrity: an entry keeps who, when and by which request', async () => {
  const before = now();
  await storage.databases.control.run((sql) =>
    auditSystem(sql, deps, {
      actor: 'admin',
      action: 'policy_set',
      target: 'x',
      workspace: 'acme',
      origin: by().origin,
    })
  );
  const [row] = await storage.databases.control.run((sql) =>
    sql`select ts, request_id, ip, workspace, details from control.audit_log where action = 'policy_set'`
  );
  expect(row).toMatchObject({ request_id: 'request-1', ip: '127.0.0.1', workspace: 'acme', details: {} });
  expect(row?.['ts'].getTime()).toBeGreaterThanOrEqual(before.getTime());
});

it('audit.integrity: values are cut to 4 KiB, at any depth, and stay well-formed', async () => {
  const workspace = await createWorkspace(deps, { id: 'long', name: 'Long' }, by());
  const long = '🦆'.repeat(5_000);
  const details = {
    text: long,
    longest: 'a'.repeat(4_096),
    longer: 'a'.repeat(4_097),
    list: [long],
    deep: { a: { b: long } },
    many: Array.from({ length: 2_000 }, () => 'word'),
    short: { 'a\u001b[31m': ['b\u202e'] },
    number: 7,
    none: null,
    lone: 'a\ud800b',
  };
  await storage.databases.workspace(workspace.database).run((sql) =>
    auditWorkspace(sql, deps, { actor: long, action: 'hook_put', target: long, details })
  );
  const { items } = await storage.databases.workspace(workspace.database).run((sql) =>
    listAudit(sql, { scope: { schema: 'workspace' }, filter: {} }, page)
  );
  const [entry] = items;
  expect(Object.keys(entry?.details ?? {}).sort()).toEqual(Object.keys(details).sort());
  for (const name of ['text', 'list', 'deep', 'many']) expect(entry?.details[name]).toBeTypeOf('string');
  // What an index can hold, and a question ask for.
  expect(entry?.actor).toBe('🦆'.repeat(320));
  expect(entry?.details['short']).toEqual({ 'a\\u001b[31m': ['b\\u202e'] });
  for (const value of [entry?.actor, entry?.target, ...Object.values(entry?.details ?? {})]) {
    if (typeof value !== 'string') continue;
    expect(Buffer.byteLength(value)).toBeLessThanOrEqual(4_096);
    expect(value.isWellFormed()).toBe(true);
  }
  expect(entry?.details).toMatchObject({
    longest: details.longest,
    number: 7,
    none: null,
    lone: 'a\ufffdb',
  });
});

it('lists an empty page beyond the last', async () => {
  const { items, total_pages } = await storage.databases.control.run((sql) =>
    listAudit(sql, { scope: { schema: 'control' }, filter: {} }, {
      page: 1_000_000,
      per_page: 200,
      count: true,
    })
  );
  expect([items, total_pages]).toEqual([[], 1]);
});
