// The embedded PostgreSQL: closed to all but the provisioner, and without rights on the machine.
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPostgresBinaries } from '../../../supervisor/postgres/binaries.ts';
import { ask, makeTestCluster, type TestCluster } from '../../harness/cluster.ts';

const uid = process.getuid?.() ?? 0;
let cluster: TestCluster;
beforeEach(async () => {
  cluster = await makeTestCluster();
});
afterEach(() => cluster.remove());

describe('the embedded PostgreSQL', () => {
  it('has a provisioner that may make databases and roles and is no superuser', async () => {
    const server = await cluster.prepare();
    await server.start();
    const [role] = await ask(
      server,
      'select rolcreatedb, rolcreaterole, rolsuper, rolreplication, rolbypassrls from pg_roles where rolname = current_user',
    );
    expect(role).toEqual({
      rolcreatedb: true,
      rolcreaterole: true,
      rolsuper: false,
      rolreplication: false,
      rolbypassrls: false,
    });
  });

  it('has checksums, UTF-8, code-point order, durable commits and no port', async () => {
    const server = await cluster.prepare();
    await server.start();
    const names = [
      'data_checksums',
      'server_encoding',
      'synchronous_commit',
      'fsync',
      'full_page_writes',
      'listen_addresses',
    ];
    const settings = await ask(
      server,
      `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`,
    );
    expect(settings[0]).toEqual({
      data_checksums: 'on',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
    });
    const [order] = await ask(
      server,
      `select 'a' < 'B' as insensitive, lower('Ä') as lower, datlocale from pg_database where datname = current_database()`,
    );
    expect(order).toEqual({ insensitive: false, lower: 'ä', datlocale: 'C.UTF-8' });
  });

  it('db.hba: lets the superuser in nowhere, nor a role into another database, nor a wrong password', async () => {
    const server = await cluster.prepare();
    await server.start();
    for (const name of ['one', 'two']) {
      await ask(server, `create role ${name} login password 'a-password'`);
      await ask(server, `create database ${name}`);
    }
    await ask(server, "create role app_of_one login password 'a-password'");
    await ask(server, 'grant one to app_of_one with inherit false, set false');
    const enter = (username: string, database: string, password = 'a-password') =>
      ask(server, 'select current_user', { username, database, password }).then(
        () => 'in',
        (error) => error.code,
      );
    expect(await enter('one', 'one')).toBe('in');
    expect(await enter('app_of_one', 'one')).toBe('in');
    expect(await enter('bulkhead', 'two')).toBe('in');
    const refused = await Promise.all([
      enter('postgres', 'postgres'),
      enter('postgres', 'one'),
      enter('one', 'two'),
      enter('one', 'bulkhead'),
      enter('one', 'postgres'),
      enter('app_of_one', 'two'),
      enter('one', 'one', 'wrong'),
      enter('bulkhead', 'bulkhead', 'wrong'),
    ]);
    expect(refused).toEqual(['28000', '28000', '28000', '28000', '28000', '28000', '28P01', '28P01']);
  });

  it('logs no statement and nothing that a tenant stored', async () => {
    const server = await cluster.prepare();
    await server.start();
    await ask(server, 'create table private (secret text unique)');
    await ask(server, "insert into private values ('hunter2')");
    await ask(server, "insert into private values ('hunter2')").catch(() => 'is to fail');
    await ask(server, 'select hunter2').catch(() => 'is to fail');
    await server.stop();
    expect(cluster.lines.join('\n')).toContain('ready to accept connections');
    expect(cluster.lines.join('\n')).not.toContain('hunter2');
  });

  it.runIf(uid === 0)('runs as a user without rights when root starts it', async () => {
    const server = await cluster.prepare();
    await server.start();
    const [postmaster] = await cluster.processes();
    const status = await readFile(`/proc/${postmaster?.pid}/status`, 'utf8');
    expect(status).not.toMatch(/^Uid:\s+0\b/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(cluster.reports.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  it.runIf(uid === 0)('starts below a directory that is closed to its user, and warns once', async () => {
    await chmod(cluster.dir, 0o700);
    const below = join(cluster.dir, 'data');
    await mkdir(below, { mode: 0o711 });
    const server = await cluster.prepare({ dataDir: below });
    await server.start();
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    const warnings = cluster.reports.filter((line) => line.startsWith('warn'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`may not pass ${cluster.dir}`);
    expect(warnings[0]).not.toContain('\n');
    const [postmaster] = await cluster.processes();
    expect(await readFile(`/proc/${postmaster?.pid}/status`, 'utf8')).not.toMatch(/^Uid:\s+0\b/m);
  });

  it.runIf(uid === 0)('is refused to an ordinary user when root made it', async () => {
    await (await cluster.prepare()).start();
    await cluster.stop();
    await expect(cluster.prepare({ uid: 65_534 })).rejects.toThrow(
      /belongs to another user \(uid \d+\): start bulkhead as root/,
    );
  });

  it('is refused in one line where npm has no binaries for the platform', () => {
    expect(() => findPostgresBinaries('plan9', 'mips')).toThrow(
      /no embedded PostgreSQL for plan9-mips .*set database\.url$/,
    );
  });
});
