// Copies of workspaces' databases, and the walls around them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import { type DatabaseCopy, handOver, withCopies } from '../../../storage/provision/copy.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { dropMarked, type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeApp, makeTenant, type Tenant } from '../../harness/tenants.ts';

let own: OwnInstallation;
let storage: Storage;
let source: Tenant;
let second: string;
let copy: DatabaseCopy;

const release = (database: string) => storage.databases.renew(database);

async function copyOf(database: string): Promise<DatabaseCopy> {
  return await withCopies(storage.provisioning, release, async (copier) => {
    const made = await copier.copy(database);
    await storage.databases.control.transaction((sql) =>
      handOver(sql, [{ database: made.database, state: 'assigned' }])
    );
    return made;
  });
}

const schemaOf = (from: string) => copy.schemas.find((schema) => schema.from === from)?.to ?? '';
const asRole = (username: string, database: string) => ({
  database,
  username,
  password: storage.secrets.derivePassword(username),
});

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  source = await makeTenant(storage);
  second = await makeApp(storage, source.database);
  await storage.databases.appOwner(source.database, source.schema).run((sql) =>
    sql.unsafe(`create table ${source.schema}.notes (id int primary key, text text);
      insert into ${source.schema}.notes values (1, 'of the source')`)
  );
  copy = await copyOf(source.database);
});
afterAll(() => own.remove());

describe('a copy of a database', () => {
  it('has what the original has, under other names', async () => {
    expect(copy.schemas.map(({ from }) => from).sort()).toEqual([source.schema, second].sort());
    const schema = schemaOf(source.schema);
    const app = storage.databases.app(copy.database, schema);
    expect([...await app.run((sql) => sql.unsafe(`select * from ${schema}.notes`))])
      .toEqual([{ id: 1, text: 'of the source' }]);
    await app.run((sql) => sql.unsafe(`insert into ${schema}.notes values (2, 'of the copy')`));
    // What its owner makes is the app's to use, as in the original.
    await storage.databases.appOwner(copy.database, schema).run((sql) =>
      sql.unsafe(`create table ${schema}.later (id int)`)
    );
    await app.run((sql) => sql.unsafe(`insert into ${schema}.later values (1)`));
    const original = await storage.databases.app(source.database, source.schema).run((sql) =>
      sql.unsafe(`select id from ${source.schema}.notes`)
    );
    expect(original.length).toBe(1);
  });

  it('cannot be reached by the roles of the original, nor the original by those of the copy', async () => {
    const schema = schemaOf(source.schema);
    const foreign = [
      ...[source.database, source.schema, ownerRole(source.schema)].map((role) =>
        [role, copy.database] as const
      ),
      ...[copy.database, schema, ownerRole(schema)].map((role) => [role, source.database] as const),
    ];
    for (const [role, database] of foreign) {
      await expect(own.as(asRole(role, database), (sql) => sql`select 1`)).rejects.toMatchObject({
        message: expect.stringContaining('pg_hba.conf rejects'),
      });
    }
    const allowed = await own.as(
      {},
      (sql) =>
        sql`select rolname::text as role, datname::text as database from pg_database, pg_roles
        where datname::text = any(${[
          source.database,
          copy.database,
        ]}) and not rolsuper and rolname <> current_user
          and has_database_privilege(rolname, datname, 'connect') order by 1, 2`,
    );
    const own_ = (tenant: string, schemas: string[]) =>
      [tenant, ...schemas, ...schemas.map(ownerRole)].map((role) => ({ role, database: tenant }));
    const expected = [
      ...own_(source.database, [source.schema, second]),
      ...own_(copy.database, copy.schemas.map(({ to }) => to)),
    ].sort((a, b) => a.role < b.role ? -1 : 1);
    const roles = new Set(expected.map(({ role }) => role));
    expect([...allowed].filter(({ role }) => roles.has(role))).toEqual(expected);
  });

  it('cannot be told from a new one by what its roles own and may do', async () => {
    const rights = (database: string) =>
      own.as(
        { database },
        (sql) =>
          sql`select c.relkind::text as kind, c.relname::text as name, r.rolname::text as owner, c.relacl::text as acl
          from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = c.relowner
          where n.nspname like 'a\\_%'
          union all select 'function', p.proname::text, r.rolname::text, p.proacl::text
          from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
          where n.nspname like 'a\\_%'
          union all select 'schema', n.nspname::text, r.rolname::text, n.nspacl::text
          from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname like 'a\\_%'
          union all select 'default', d.defaclobjtype::text, r.rolname::text, d.defaclacl::text
          from pg_default_acl d join pg_roles r on r.oid = d.defaclrole`,
      );
    const schemas = new Map(copy.schemas.map(({ from, to }) => [from.slice(2), to.slice(2)]));
    const renamed = (text: string | null) =>
      text?.replaceAll(/[0-9a-f]{20}/g, (name) => schemas.get(name) ?? name) ?? null;
    // A list of rights has no order.
    const sorted = (row: Record<string, unknown>) => ({
      ...row,
      acl: String(row['acl']).split(/[{},]/).sort(),
    });
    const inOrder = (rows: Iterable<Record<string, unknown>>) =>
      [...rows].map((row) => JSON.stringify(sorted(row))).filter((row) => !row.includes('"later"')).sort();
    const before = [...await rights(source.database)].filter(({ owner, name }) =>
      [owner, name].some((text) => [...schemas.keys()].some((schema) => String(text).includes(schema)))
    );
    const expected = before.map((row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, renamed(value)]))
    );
    expect(inOrder(await rights(copy.database))).toEqual(inOrder(expected));
  });

  it('is dropped with every role of it, and leaves the original as it is', async () => {
    const again = await copyOf(source.database);
    await storage.databases.closePools(again.database);
    await storage.databases.control.run((sql) =>
      sql`update control.tenant_databases set state = 'dropping' where name = ${again.database}`
    );
    expect(await dropMarked(storage.databases)).toEqual([again.database]);
    const names = [again.database, ...again.schemas.flatMap(({ to }) => [to, ownerRole(to)])];
    const left = await own.as({}, (sql) => sql`select from pg_roles where rolname::text = any(${names})`);
    expect(left.length).toBe(0);
    await storage.databases.app(source.database, source.schema).run((sql) =>
      sql.unsafe(`select from ${source.schema}.notes`)
    );
  });

  it('survives the deletion of the original', async () => {
    const passing = await makeTenant(storage);
    const kept = await copyOf(passing.database);
    await storage.databases.closePools(passing.database);
    await storage.databases.control.run((sql) =>
      sql`update control.tenant_databases set state = 'dropping' where name = ${passing.database}`
    );
    expect(await dropMarked(storage.databases)).toEqual([passing.database]);
    const schema = kept.schemas[0]?.to ?? '';
    await storage.databases.app(kept.database, schema).run((sql) =>
      sql.unsafe(`select from ${schema}._files`)
    );
  });
});

describe('making copies', () => {
  it('leaves to the reaper what nobody takes', async () => {
    const failed = withCopies(storage.provisioning, release, async (copier) => {
      await copier.copy(source.database);
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    expect((await dropMarked(storage.databases)).length).toBe(1);
  });

  it('goes on while the original is in use, and every statement there is done', async () => {
    const app = storage.databases.app(source.database, source.schema);
    let isDone = false;
    let written = 0;
    const writes = Array.from({ length: 4 }, async (_, at) => {
      for (let round = 0; !isDone; round++) {
        const id = 1_000_000 * (at + 1) + round;
        await app.run((sql) => sql.unsafe(`insert into ${source.schema}.notes values (${id}, 'busy')`));
        written++;
      }
    });
    const made = await copyOf(source.database).finally(() => isDone = true);
    await Promise.all(writes);
    const schema = made.schemas.find(({ from }) => from === source.schema)?.to ?? '';
    const [counted] = await storage.databases.app(made.database, schema).run((sql) =>
      sql.unsafe(`select count(*)::int as count from ${schema}.notes where text = 'busy'`)
    );
    expect(counted?.['count']).toBeGreaterThanOrEqual(0);
    expect(counted?.['count']).toBeLessThanOrEqual(written);
  });
});
