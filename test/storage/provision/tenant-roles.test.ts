// Tenant roles: what apps see, how many connections and how much time, what names say.
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { twoTenants } from '../../harness/tenants.ts';

const { own, storage, a, b, second, as, attempt } = await twoTenants();
afterAll(() => own.remove());

const denied = '42501';

describe('db.role-matrix: an app', () => {
  it('may do in its schema what it likes, and point to users', async () => {
    expect(await attempt('app', `create table ${a.schema}.mine (id uuid references workspace.users (id))`))
      .toBe('allowed');
    expect(await attempt('app', `drop table ${a.schema}.mine`)).toBe('allowed');
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
});

describe('db.role-matrix: a role', () => {
  it('may open only so many connections', async () => {
    const limit = storage.provisioning.roleConnections;
    const roles = await storage.databases.control.run((sql) =>
      sql`select rolconnlimit from pg_roles where rolname in (${a.database}, ${a.schema})`
    );
    expect(roles).toEqual([{ rolconnlimit: limit }, { rolconnlimit: limit }]);
  });

  it('may open as many as the settings of a later start have', async () => {
    const limits = () =>
      storage.databases.control.run((sql) =>
        sql`select rolname, rolconnlimit from pg_roles
          where rolname in (${a.database}, ${a.schema}, ${second}, ${b.database}, ${b.schema}) order by rolname`
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
        from pg_roles where rolname in (${a.database}, ${a.schema}, ${own.access.username})`
    );
    expect(roles).toHaveLength(3);
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
    for (const name of names) expect(name).toMatch(/^(a_[0-9a-f]{20}|workspace)$/);
  });
});
