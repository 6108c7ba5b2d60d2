// The embedded PostgreSQL: made once, closed to all but the provisioner, and on its feet again after a crash.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findPostgresBinaries } from '../../supervisor/postgres-binaries.ts';
import { pgHbaConf, postgresqlConf } from '../../supervisor/postgres-config.ts';
import { closedDirectory } from '../../supervisor/postgres-user.ts';
import { type Postgres, type PostgresOptions, preparePostgres } from '../../supervisor/postgres.ts';
import { listProcesses } from '../harness/processes.ts';

const uid = process.getuid?.() ?? 0;
let dir = '';
let reports: string[] = [];
let lines: string[] = [];
const running: Postgres[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bulkhead-pg-'));
  await chmod(dir, 0o711);
  reports = [];
  lines = [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
  await rm(dir, { recursive: true });
});

async function prepare(change: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const made = await preparePostgres({
    dataDir: dir,
    password: 'a-password',
    uid,
    path: process.env['PATH'] ?? '',
    platform: process.platform,
    arch: process.arch,
    stop: new AbortController().signal,
    onEvent: () => {},
    onLine: (line) => lines.push(line),
    report: (level, message) => reports.push(`${level} ${message}`),
    ...change,
  });
  running.push(made);
  return made;
}

/** One statement over a connection of its own. */
async function ask(server: Postgres, text: string, change: postgres.Options<Record<string, never>> = {}) {
  const { host, port, username, password, database } = server.access;
  const sql = postgres({ host, port, username, password, database, max: 1, onnotice: () => {}, ...change });
  try {
    return [...await sql.unsafe(text)];
  } finally {
    // Without a deadline, end() waits for ever once the server has closed the connection.
    await sql.end({ timeout: 1 });
  }
}

/** Numbers of all processes of the cluster: the postmaster, its children, its watcher. */
async function clusterProcesses(): Promise<number[]> {
  const all = await listProcesses();
  const postmasters = all.filter(({ command }) => command.includes(`-D ${dir}`)).map(({ pid }) => pid);
  return all.filter(({ pid, parent }) => postmasters.includes(pid) || postmasters.includes(parent)).map((
    { pid },
  ) => pid);
}

describe('the embedded PostgreSQL', () => {
  it('has a provisioner that may make databases and roles and is no superuser', async () => {
    const server = await prepare();
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
    const server = await prepare();
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
    const server = await prepare();
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

  it('keeps its data, makes the cluster once, and starts within a second then', async () => {
    const first = await prepare();
    await first.start();
    await ask(first, 'create table kept as select 42 as answer');
    await first.stop();
    expect(await clusterProcesses()).toEqual([]);
    const began = performance.now();
    const second = await prepare();
    await second.start();
    const took = performance.now() - began;
    expect(await ask(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(reports).toEqual([`info making the PostgreSQL cluster ${join(dir, 'postgresql', 'data')}`]);
    expect(took).toBeLessThan(1000);
  });

  it('begins again when a crash left a cluster half made', async () => {
    await mkdir(join(dir, 'postgresql', 'data.new', 'base'), { recursive: true });
    await writeFile(join(dir, 'postgresql', 'data.new', 'PG_VERSION'), '18');
    const server = await prepare();
    await server.start();
    expect(await readdir(join(dir, 'postgresql'))).not.toContain('data.new');
  });

  it('leaves nothing that would be taken for a cluster when it is stopped while making one', async () => {
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    await expect(prepare({ stop: stop.signal })).rejects.toThrow();
    expect(await readdir(join(dir, 'postgresql'))).not.toContain('data');
  });

  it('is up again within 5 s when its postmaster is killed under a long statement', async () => {
    const server = await prepare();
    await server.start();
    const [row] = await ask(server, 'select pg_backend_pid() as backend');
    expect(row).toBeDefined();
    const long = ask(server, 'select pg_sleep(30)').catch((error: Error) => error);
    await vi.waitFor(async () => {
      expect(await ask(server, "select 1 from pg_stat_activity where query = 'select pg_sleep(30)'"))
        .toHaveLength(1);
    });
    const began = performance.now();
    process.kill(
      Number((await readFile(join(dir, 'postgresql', 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]),
      'SIGKILL',
    );
    await vi.waitFor(() => ask(server, 'select 1', { connect_timeout: 1 }), { timeout: 5000, interval: 20 });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await long).toBeInstanceOf(Error);
  });

  it('starts although the number in a left-over postmaster.pid is another process now', async () => {
    const first = await prepare();
    await first.start();
    const file = join(dir, 'postgresql', 'data', 'postmaster.pid');
    const text = await readFile(file, 'utf8');
    await first.stop();
    await writeFile(file, text.replace(/^\d+/, String(process.pid)), { mode: 0o600 });
    const second = await prepare();
    await second.start();
    expect(await ask(second, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('puts its socket elsewhere when the path is too long for one, and cleans up', async () => {
    const long = join(dir, 'x'.repeat(90));
    await mkdir(long, { mode: 0o711 });
    await chmod(long, 0o711);
    const server = await prepare({ dataDir: long });
    await server.start();
    expect(server.access.host).not.toContain(long);
    expect((await stat(server.access.host)).mode & 0o777).toBe(0o700);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    await expect(stat(server.access.host)).rejects.toThrow('ENOENT');
  });

  it('logs no statement and nothing that a tenant stored', async () => {
    const server = await prepare();
    await server.start();
    await ask(server, 'create table private (secret text unique)');
    await ask(server, "insert into private values ('hunter2')");
    await ask(server, "insert into private values ('hunter2')").catch(() => 'is to fail');
    await ask(server, 'select hunter2').catch(() => 'is to fail');
    await server.stop();
    expect(lines.join('\n')).toContain('ready to accept connections');
    expect(lines.join('\n')).not.toContain('hunter2');
  });

  it.runIf(uid === 0)('runs as a user without rights when root starts it', async () => {
    const server = await prepare();
    await server.start();
    const [{ pid } = { pid: 0 }] = (await listProcesses()).filter(({ command }) =>
      command.includes(`-D ${dir}`)
    );
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).not.toMatch(/^Uid:\s+0\b/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(reports.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  it.runIf(uid === 0)('starts below a directory that is closed to its user, and warns once', async () => {
    await chmod(dir, 0o700);
    const below = join(dir, 'data');
    await mkdir(below, { mode: 0o711 });
    const server = await prepare({ dataDir: below });
    await server.start();
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    const warnings = reports.filter((line) => line.startsWith('warn'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`may not pass ${dir}`);
    expect(warnings[0]).not.toContain('\n');
    const all = await listProcesses();
    const [postmaster] = all.filter(({ command }) =>
      command.includes(`-D ${below}`) && !command.startsWith('/bin/sh')
    );
    expect(await readFile(`/proc/${postmaster?.pid}/status`, 'utf8')).not.toMatch(/^Uid:\s+0\b/m);
  });

  it.runIf(uid === 0)('is refused to an ordinary user when root made it', async () => {
    await (await prepare()).start();
    await Promise.all(running.splice(0).map((one) => one.stop()));
    await expect(prepare({ uid: 65_534 })).rejects.toThrow(
      /belongs to another user \(uid \d+\): start bulkhead as root/,
    );
  });

  it('is refused in one line where npm has no binaries for the platform', () => {
    expect(() => findPostgresBinaries('plan9', 'mips')).toThrow(
      /no embedded PostgreSQL for plan9-mips .*set database\.url$/,
    );
  });
});

describe('the cluster’s configuration', () => {
  it('quotes paths', () => {
    const text = postgresqlConf({ data: "/it's", socket: '/back\\slash', config: '/c' });
    expect(text).toContain("data_directory = '/it''s'");
    expect(text).toContain("unix_socket_directories = '/back\\\\slash'");
  });

  it('ends with a rule that rejects everyone', () => {
    expect(pgHbaConf().trim().split('\n').slice(1)).toEqual([
      'local all      postgres reject',
      'local all      bulkhead scram-sha-256',
      'local samerole all      scram-sha-256',
      'local all      all      reject',
    ]);
  });
});

describe('a directory', () => {
  it('is closed when the account’s own class of permissions lacks the search bit', async () => {
    const inner = join(dir, 'inner');
    await mkdir(inner, { mode: 0o711 });
    const path = join(inner, 'data');
    const stranger = { uid: 4_000_000, gid: 4_000_000 };
    expect(await closedDirectory(stranger, [path])).toBeUndefined();
    await chmod(dir, 0o710);
    expect(await closedDirectory(stranger, [path])).toBe(dir);
    const { gid } = await stat(dir);
    expect(await closedDirectory({ ...stranger, gid }, [path])).toBeUndefined();
    await chmod(dir, 0o701);
    expect(await closedDirectory({ ...stranger, gid }, [path])).toBe(dir);
  });
});
