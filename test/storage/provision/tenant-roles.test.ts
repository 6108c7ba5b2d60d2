// Tenant roles: what apps see, how many connections and how much time, what names say.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { twoTenants } from '../../harness/tenants.ts';

const { own, storage, a, b, second, as, attempt } = await twoTenants();
afterAll(() => own.remove());

const denied = '42501';

describe('db.role-matrix: the owner of an app', () => {
  it('may do in its schema what it likes, and point to users', async () => {
    expect(await attempt('owner', `create table ${a.schema}.mine (id uuid references workspace.users (id))`))
      .toBe('allowed');
    expect(await attempt('owner', `drop table ${a.schema}.mine`)).toBe('allowed');
  });
});

describe('db.role-matrix: an app', () => {
  const { schema } = a;
  const type = `${schema}.kind`;

  beforeAll(async () => {
    const made = [
      `create table ${schema}.mine (id uuid, note text)`,
      `create type ${type} as enum ('one')`,
      `create function ${schema}.made() returns trigger language plpgsql as 'begin return new; end'`,
    ];
    for (const text of made) expect(await attempt('owner', text)).toBe('allowed');
  });

  it('reads and writes what its owner has made', async () => {
    const texts = [
      `insert into ${schema}.mine (id) values (gen_random_uuid())`,
      `select * from ${schema}.mine for update`,
      `update ${schema}.mine set note = 'x'`,
      `delete from ${schema}.mine`,
    ];
    for (const text of texts) expect(await attempt('app', text)).toBe('allowed');
  });

  // Whatever it could define would run in the sessions of others, with their rights.
  it.each([
    `create table ${schema}.own (id uuid)`,
    `create table ${schema}.own as select 1`,
    `create view ${schema}.own as select 1 as one`,
    `create sequence ${schema}.own`,
    `create type ${schema}.own as enum ('one')`,
    `create domain ${schema}.own as uuid`,
    `create function ${schema}.own() returns int language sql as 'select 1'`,
    `create function pg_temp.own() returns int language sql as 'select 1'`,
    `create operator ${schema}.= (leftarg = uuid, rightarg = uuid, function = uuid_eq)`,
    `create aggregate ${schema}.own (int) (sfunc = int4pl, stype = int)`,
    `create cast (${type} as uuid) with inout as implicit`,
    `create trigger own before insert on ${schema}.mine for each row execute function ${schema}.made()`,
    `create rule own as on insert to ${schema}.mine do instead nothing`,
    `create index own on ${schema}.mine (id)`,
    `create policy own on ${schema}.mine`,
    `alter table ${schema}.mine add check (set_config('role', 'none', false) is null)`,
    `alter table ${schema}.mine alter column note set default set_config('search_path', 'x', false)`,
    `alter table ${schema}.mine add foreign key (id) references workspace.users (id)`,
    `alter function ${schema}.made() set search_path = 'x'`,
    `alter schema ${schema} rename to own`,
    `truncate ${schema}.mine`,
    `drop table ${schema}.mine`,
    `set role ${ownerRole(schema)}`,
    `update ${schema}._access_rules set template = 'any'`,
    `insert into ${schema}._access_rules values ('notes', 'list', 'any', null, now())`,
    `delete from ${schema}._collections`,
    `select * from ${schema}._migrations for update`,
  ])('cannot %s', async (text) => {
    expect(await attempt('app', text)).toBe(denied);
  });

  it('cannot grant what it has', async () => {
    await as('app', (sql) => sql.unsafe(`grant select on ${schema}.mine to public`)).catch(() => 'refused');
    const [row] = await as(
      'owner',
      (sql) => sql`select relacl::text from pg_class where oid = ${`${schema}.mine`}::regclass`,
    );
    expect(row?.['relacl']).not.toMatch(/[{,]=/);
  });

  it('sees users without their secrets', async () => {
    const rows = await as('app', (sql) => sql`select * from workspace.users_public`);
    expect(rows.columns.map(({ name }) => name)).not.toContain('password_hash');
    expect(await attempt('app', 'select * from workspace.users')).toBe(denied);
    expect(await attempt('app', 'select * from workspace.sessions')).toBe(denied);
    expect(await attempt('app', 'select * from workspace.audit_log')).toBe(denied);
    expect(await attempt('app', 'select * from workspace.apps')).toBe(denied);
  });

  it('cannot become its workspace, nor that one of its apps', async () => {
    expect(await attempt('app', `set role ${a.database}`)).toBe(denied);
    expect(await attempt('workspace', `set role ${a.schema}`)).toBe(denied);
  });

  it('audit.integrity: appends to the audit log for itself only', async () => {
    const entry = (id: string) =>
      `select workspace.audit_app('${id}', now(), 'x', 'rule_set', 'x', '{}', null, null, null) as written`;
    const id = randomUUID();
    expect(await as('app', (sql) => sql.unsafe(entry(id)))).toEqual([{ written: a.database }]);
    const [row] = await storage.databases.workspace(a.database).run((sql) =>
      sql`select app_schema from workspace.audit_log where id = ${id}`
    );
    expect(row).toEqual({ app_schema: a.schema });
    expect(await attempt('workspace', entry(randomUUID()))).toBe(denied);
  });

  it('audit.integrity: appends as the same app when its owner is who acts', async () => {
    const id = randomUUID();
    const entry = `select workspace.audit_app('${id}', now(), 'x', 'rule_set', 'x', '{}', null, null, null)`;
    expect(await attempt('owner', entry)).toBe('allowed');
    const [row] = await storage.databases.workspace(a.database).run((sql) =>
      sql`select app_schema from workspace.audit_log where id = ${id}`
    );
    expect(row).toEqual({ app_schema: a.schema });
  });
});

describe('db.role-matrix: a role', () => {
  it('may open only so many connections', async () => {
    const limit = storage.provisioning.roleConnections;
    const roles = await storage.databases.control.run((sql) =>
      sql`select rolconnlimit from pg_roles where rolname in (${a.database}, ${a.schema}, ${
        ownerRole(a.schema)
      })`
    );
    expect(roles).toEqual([{ rolconnlimit: limit }, { rolconnlimit: limit }, { rolconnlimit: limit }]);
  });

  it('may open as many as the settings of a later start have', async () => {
    const limits = () =>
      storage.databases.control.run((sql) =>
        sql`select rolname, rolconnlimit from pg_roles
          where rolname in (${a.database}, ${a.schema}, ${second}, ${b.database}, ${b.schema}, ${
          ownerRole(b.schema)
        })
          order by rolname`
      );
    const before = await limits();
    const reopened = await own.open({ appPoolCap: 20 });
    const { roleConnections } = reopened.provisioning;
    await reopened.close();
    expect(roleConnections).toBeGreaterThan(storage.provisioning.roleConnections);
    expect(await limits()).toEqual(before.map((role) => ({ ...role, rolconnlimit: roleConnections })));
    await (await own.open()).close();
    expect(await limits()).toEqual(before);
  });

  it('db.timeout: is stopped after 5 s, and its connection works on', async () => {
    const pool = storage.databases.app(a.database, a.schema);
    const start = performance.now();
    await expect(pool.run((sql) => sql`select pg_sleep(10)`)).rejects.toMatchObject({ failure: 'timeout' });
    expect(performance.now() - start).toBeLessThan(5_500);
    expect(await pool.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  });
});

describe('db.no-superuser', () => {
  it('no role of ours is a superuser, may replicate, bypass row security or make anything', async () => {
    const roles = await storage.databases.control.run((sql) =>
      sql`select rolname, rolsuper, rolreplication, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit,
        pg_has_role(rolname, 'bulkhead', 'member') as provisioner
        from pg_roles where rolname in (${a.database}, ${a.schema}, ${
        ownerRole(a.schema)
      }, ${own.access.username})`
    );
    expect(roles).toHaveLength(4);
    for (const role of roles) {
      const isProvisioner = role['rolname'] === own.access.username;
      expect(role).toMatchObject({
        rolsuper: false,
        rolreplication: false,
        rolbypassrls: false,
        rolcreaterole: isProvisioner,
        rolcreatedb: isProvisioner,
        provisioner: isProvisioner,
      });
      if (!isProvisioner) expect(role['rolinherit']).toBe(false);
    }
  });
});

describe('db.opaque-names', () => {
  it('names of databases, roles and schemas say nothing about their tenant', async () => {
    const pattern = /^w_[0-9a-f]{20}$/;
    expect(a.database).toMatch(pattern);
    expect(b.database).toMatch(pattern);
    expect(a.schema).toMatch(/^a_[0-9a-f]{20}$/);
    const schemas = await storage.databases.provisioner(a.database).run((sql) =>
      sql<{ name: string }[]>`select nspname::text as name from pg_namespace
        where nspname not like 'pg\\_%' and nspname <> 'information_schema' order by 1`
    );
    const names = schemas.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([a.schema, second, 'workspace']));
    for (const name of names) expect(name).toMatch(/^(a_[0-9a-f]{20}|workspace|extensions)$/);
  });

  it('has its bounds from the next start on, when its database is of an earlier release', async () => {
    const bounds = () =>
      storage.databases.control.run((sql) =>
        sql`select setconfig from pg_db_role_setting join pg_database on pg_database.oid = setdatabase
          where setrole = 0 and datname = ${a.database}`
      );
    const before = await bounds();
    await storage.databases.control.run((sql) => sql.unsafe(`alter database ${a.database} reset all`));
    expect(await bounds()).toEqual([]);
    await (await own.open()).close();
    expect(await bounds()).toEqual(before);
    expect(before[0]?.['setconfig']).toEqual(
      expect.arrayContaining(['work_mem=4MB', 'temp_file_limit=512MB']),
    );
  });
});
