// What a tenant's roles can do in the cluster, tried against the real pg_hba.conf.
import { afterAll, describe, expect, it } from 'vitest';
import { twoTenants, type Who } from '../../harness/tenants.ts';

const { own, storage, a, b, second, login, as, attempt } = await twoTenants();
afterAll(() => own.remove());

const all: readonly Who[] = ['workspace', 'app', 'owner'];
const denied = '42501';

describe.each(all)('db.role-matrix: the role of an %s', (who) => {
  it('reaches its own database', async () => {
    expect(await as(who, (sql) => sql`select current_database()::text as name`)).toEqual([{
      name: a.database,
    }]);
  });

  it.each(['postgres', 'template1', 'bulkhead'])('does not reach the database %s', async (database) => {
    await expect(own.as(login(who, database), (sql) => sql`select 1`)).rejects.toMatchObject({
      failure: 'unavailable',
      message: expect.stringContaining('pg_hba.conf rejects'),
    });
  });

  it('reaches no database of another workspace, of the control data or the template', async () => {
    for (const database of [b.database, own.access.database, storage.provisioning.names.template]) {
      await expect(own.as(login(who, database), (sql) => sql`select 1`)).rejects.toMatchObject({
        message: expect.stringContaining('pg_hba.conf rejects'),
      });
    }
  });

  it('may connect to its own database alone, whatever pg_hba.conf says', async () => {
    const { template } = storage.provisioning.names;
    const named = [a.database, b.database, template, 'bulkhead', 'postgres', 'template1'];
    const open = await as(who, (sql) =>
      sql`select datname::text as name from pg_database
        where datname::text = any(${named}) and has_database_privilege(datname, 'connect')`);
    expect(open).toEqual([{ name: a.database }]);
  });

  it('cannot log in with the password of another role', async () => {
    const password = storage.secrets.derivePassword(b.database);
    await expect(own.as({ ...login(who), password }, (sql) => sql`select 1`)).rejects.toMatchObject({
      message: expect.stringContaining('password authentication failed'),
    });
  });

  it('cannot be the superuser or a group', async () => {
    for (const username of ['postgres', ...Object.values(storage.provisioning.names.groups)]) {
      await expect(own.as({ ...login(who), username }, (sql) => sql`select 1`)).rejects.toMatchObject({
        failure: 'unavailable',
      });
    }
  });

  it.each([
    ['a table of another database', () => `select * from ${b.database}.${b.schema}._collections`, '0A000'],
    ['password hashes', () => 'select * from pg_authid', denied],
    ['the shadow view', () => 'select * from pg_shadow', denied],
    ['the hba rules', () => 'select * from pg_hba_file_rules', denied],
    ['where the data is', () => 'show data_directory', denied],
    ['a file', () => `select pg_read_file('postgresql.conf')`, denied],
    ['a directory', () => `select pg_ls_dir('.')`, denied],
    ['the log directory of writes', () => 'select pg_ls_waldir()', denied],
    ['a copy from a file', () => `copy ${ownSchema()}.copied from '/etc/passwd'`, denied],
    ['a copy to a program', () => `copy (select 1) to program 'true'`, denied],
    ['an import of a large object', () => `select lo_import('/etc/passwd')`, denied],
    ['the superuser', () => 'set role postgres', denied],
    ['the provisioner', () => 'set role bulkhead', denied],
    ['the workspace role of another', () => `set role ${b.database}`, denied],
    ['the other app of the workspace', () => `set role ${second}`, denied],
    ['a group', () => `set role ${storage.provisioning.names.groups.workspace}`, denied],
    ['another session user', () => 'set session authorization postgres', denied],
    ['a role', () => 'create role evil', denied],
    ['a database', () => 'create database evil', denied],
    ['a schema', () => 'create schema evil', denied],
    ['other settings of the database', () => `alter database ${a.database} set work_mem = '1GB'`, denied],
    ['an event trigger', () =>
      `do $$ begin execute 'create event trigger e on ddl_command_start
      execute function pg_catalog.suppress_redundant_updates_trigger()'; end $$`, denied],
    ['a temporary table', () => 'create temporary table evil (id int)', denied],
    ['the end of its own database', () => `drop database ${a.database}`, denied],
    ['the size of another database', () => `select pg_database_size('${b.database}')`, denied],
    ['its own role for others', () => `grant ${a.database} to ${b.database}`, denied],
    ['a slot', () => `select pg_create_physical_replication_slot('evil')`, denied],
    ['a table among the workspace tables', () => 'create table workspace.evil (id int)', denied],
    ['the versions of the schema', () => 'select * from workspace.migrations', denied],
    ['a change of the audit log', () => `update workspace.audit_log set actor = 'nobody'`, denied],
    ['an emptier audit log', () => 'delete from workspace.audit_log', denied],
    ['no audit log', () => 'truncate workspace.audit_log', denied],
    ['the ready schemas', () => 'select * from workspace.spare_apps', denied],
    ['another schema of an app', () => `insert into workspace.apps (id) values ('evil')`, denied],
    ['the definitions of the other app', () => `select * from ${second}._collections`, denied],
  ])('cannot have %s', async (_what, text, code) => {
    expect(await attempt(who, text())).toBe(code);
  });

  it.each(['dblink', 'postgres_fdw', 'file_fdw', 'pgcrypto', 'plpython3u', 'pg_stat_statements'])(
    'cannot have the extension %s',
    async (name) => {
      expect(await attempt(who, `create extension ${name} schema ${ownSchema()}`)).toMatch(
        /^(42501|0A000|58P01)$/,
      );
    },
  );

  it('cannot end or cancel the work of another workspace', async () => {
    const pool = storage.databases.workspace(b.database);
    const [backend] = await pool.run((sql) => sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
    const running = pool.run((sql) => sql`select pg_sleep(0.3)`);
    for (const act of ['pg_terminate_backend', 'pg_cancel_backend']) {
      expect(await attempt(who, `select ${act}(${backend?.pid})`)).toBe(denied);
    }
    expect(await running).toHaveLength(1);
  });

  it('sees of another workspace no statement and nothing that a tenant chose', async () => {
    const pool = storage.databases.workspace(b.database);
    // There is a connection, whichever tests ran before.
    await pool.run((sql) => sql`select 1`);
    const running = pool.run((sql) => sql`select pg_sleep(0.3), 'secret of b'`);
    const seen = await as(who, (sql) =>
      sql<{ query: string; application_name: string }[]>`
        select query, application_name from pg_stat_activity where datname = ${b.database}`);
    expect(seen.length).toBeGreaterThan(0);
    for (const { query, application_name } of seen) {
      expect(query).toBe('<insufficient privilege>');
      expect(application_name).toMatch(/^bulkhead(?: [0-9a-f]{16})?$/);
    }
    await running;
  });

  it('may do what only its own database feels', async () => {
    for (
      const text of [
        `notify x`,
        'select pg_advisory_lock(1)',
        `do $$ begin end $$`,
        `set statement_timeout = 0`,
      ]
    ) {
      expect(await attempt(who, text)).toBe('allowed');
    }
  });

  it('has bounds on time and finds nothing without its schema', async () => {
    const settings = await as(
      who,
      (sql) =>
        sql`select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
        'idle_in_transaction_session_timeout', 'transaction_timeout', 'search_path') order by name`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      statement_timeout: '5000',
      lock_timeout: '2000',
      idle_in_transaction_session_timeout: '10000',
      transaction_timeout: '15000',
      search_path: '""',
    });
    // Connections say it too, and would hide that the database does not.
    const [kept] = await as(
      who,
      (sql) =>
        sql`select array_to_string(setconfig, ' ') as settings from pg_db_role_setting
        join pg_database on pg_database.oid = setdatabase
        where setrole = 0 and datname = current_database()`,
    );
    expect(kept?.['settings']).toContain('search_path=""');
  });

  it('has no public schema to write to', async () => {
    expect(await attempt(who, 'create table public.evil (id int)')).toBe('3F000');
  });
});

/** The schema that an app role owns; a workspace role owns none, and is refused before that matters. */
function ownSchema(): string {
  return a.schema;
}
