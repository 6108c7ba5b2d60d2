// Starting: how long it takes, how much it needs, and on what it can stand.
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { ask, makeTestCluster } from '../harness/cluster.ts';
import { measured } from '../harness/measured.ts';
import { isApi, processTree, residentMemory } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const program = join(import.meta.dirname, '../../supervisor/main.ts');
const isRoot = process.getuid?.() === 0;

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-start-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Of the supervisor and the API together, without PostgreSQL, in MiB. */
async function memory({ pid }: TestServer): Promise<number> {
  const ours = (await processTree(pid)).filter(({ command }) => /^\S*node\b/.test(command));
  expect(ours).toHaveLength(2);
  const sizes = await Promise.all(ours.map((row) => residentMemory(row.pid)));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0));
}

describe('a start', () => {
  it('that cannot make its database says in one line what PostgreSQL lacked', async () => {
    // Files of 512 KB at most: PostgreSQL has larger ones.
    const command = [
      '-c',
      'ulimit -f 1000; exec "$@"',
      'sh',
      'node',
      program,
      'serve',
      `--data-dir=${home}/data`,
    ];
    const { exitCode, stderr } = await execa('sh', command, { cwd: home, reject: false });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^bulkhead: the PostgreSQL cluster \S+ could not be made: .*File too large$/m);
  });

  it('that finds no room for its database says so in one line', async () => {
    const dataDir = join(home, 'data');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'postgresql'), '');
    const problem = `PostgreSQL cannot be prepared in data_dir ${dataDir}: EEXIST`;
    await expect(startServer({ dataDir, isFirstStart: true })).rejects.toThrow(`bulkhead: ${problem}`);
  });

  it('that is told to keep hooks where there is a file says so in one line', async () => {
    const config = { hooks: { dir: import.meta.filename } };
    await expect(startServer({ config })).rejects.toThrow(
      `bulkhead: hooks.dir ${import.meta.filename} cannot be made: it is there, and is no directory`,
    );
  });

  it('that cannot listen says in one line what the system has against it', async () => {
    // An address of no machine (RFC 5737).
    const http = { host: '192.0.2.1', port: 8080 };
    await expect(startServer({ config: { http } })).rejects.toThrow(
      /bulkhead: cannot listen on port 8080 of 192\.0\.2\.1: listen EADDRNOTAVAIL: .*; set http\.port/,
    );
  });

  it('says where it listens whatever log.level is, when any port would do', async () => {
    const server = await startServer({ config: { log: { level: 'error' } } });
    const response = await fetch(`${server.url}/healthz`);
    await server.stop();
    expect(response.status).toBe(200);
    expect(server.output).toHaveLength(1);
  });

  it('takes less than 180 MiB, and serves later what it served first', measured, async () => {
    const dataDir = join(home, 'data');
    const first = await startServer({ dataDir, config: unlimited, isFirstStart: true });
    const idle = await memory(first);
    const store = await openStorefront(first.url);
    const used = await memory(first);
    await first.stop();
    const later = await startServer({ dataDir, config: unlimited });
    expectOk(await store.at(later.url).master.get('/api/workspaces'));
    const idleLater = await memory(later);
    await later.stop();
    console.log(
      `supervisor and API: ${idle} MiB, after setup and a login ${used} MiB, later ${idleLater} MiB`,
    );
    expect(idleLater).toBeLessThan(180);
  });

  it('tells a person at a new server what to do next, once', async () => {
    const server = await startServer({ isFirstStart: true });
    const hint = await server.line('curl -X POST');
    expect(JSON.parse(hint).message).toContain(`${server.url}/_/setup`);
    await server.stop();
  });

  it.runIf(isRoot)('needs neither root nor a home directory', async () => {
    const server = await startServer({ user: { uid: 65_534, gid: 65_534 } });
    const store = await openStorefront(server.url);
    const id = '0190a000-0000-7000-8000-000000000001';
    expectOk(await store.write(id));
    expect(server.output.filter((line) => /"(warn|error)"/.test(line))).toEqual([]);
    await server.stop();
    expect(await server.exited).toMatchObject({ code: 0 });
  });

  it.runIf(isRoot)('loses no hooks to what another user has left, who ran it once', async () => {
    await chmod(home, 0o711);
    const runtime = join(home, 'data/runtime');
    await mkdir(join(runtime, '0123456789abcdef/code'), { recursive: true });
    const user = { uid: 65_534, gid: 65_534 };
    for (const folder of [join(home, 'data'), runtime]) await chown(folder, user.uid, user.gid);
    const server = await startServer({ dataDir: join(home, 'data'), user });
    expect(server.output.filter((line) => /"(warn|error)"/.test(line))).toEqual([]);
    await server.stop();
  });

  it.runIf(isRoot)(
    'as root in the directory of a user warns of what that user will not be able to read',
    async () => {
      await chmod(home, 0o711);
      const dataDir = join(home, 'data');
      await mkdir(dataDir);
      await chown(dataDir, 65_534, 65_534);
      const server = await startServer({ dataDir, isFirstStart: true });
      const warnings = server.output.filter((line) => line.includes('"warn"'));
      await server.stop();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(`run chown -R 65534 ${dataDir} before`);
    },
  );

  it.runIf(isRoot)('below a directory that only root may pass warns, and serves', async () => {
    // As mkdtemp made it: 0700.
    const server = await startServer({ dataDir: join(home, 'data'), isFirstStart: true });
    const warnings = server.output.filter((line) => line.includes('"warn"'));
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) expect(warning).toContain('dac_read_search');
    expectOk(await (await openStorefront(server.url)).master.get('/api/workspaces'));
    await server.stop();
  });

  it('with several API processes shares one port, and all see a new password and session', async () => {
    const server = await startServer({ config: { ...unlimited, api: { workers: 2 } } });
    const apis = (await processTree(server.pid)).filter(isApi);
    expect(apis).toHaveLength(2);
    const store = await openStorefront(server.url);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => store.master.get('/api/workspaces', { Connection: 'close' })),
    );
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
    await server.stop();
  });
});

describe('a start where a server has served before', () => {
  it('makes no new database in place of one that is gone', async () => {
    const first = await startServer({ keep: true });
    await first.stop();
    await rm(join(first.dataDir, 'postgresql'), { recursive: true });
    await expect(startServer({ dataDir: first.dataDir })).rejects.toThrow(
      `bulkhead: data_dir ${first.dataDir} was in use, and its database is gone: set database.url`,
    );
    await rm(dirname(first.dataDir), { recursive: true });
  });
});

describe('a start on a PostgreSQL of the operator’s own', () => {
  it('works with a role that may make databases and roles, and starts no PostgreSQL itself', async () => {
    const cluster = await makeTestCluster();
    try {
      const external = await cluster.prepare();
      await external.start();
      await ask(external, "create role operator login createdb createrole password 'p@ss/word'");
      await ask(external, 'create database bulkhead_control owner bulkhead');
      await ask(external, 'grant all on database bulkhead_control to operator');
      const host = encodeURIComponent(external.access.host);
      const url = `postgres://bulkhead:a-password@/bulkhead?host=${host}`;
      const server = await startServer({ keep: true, config: { ...unlimited, database: { url } } });
      const commands = (await processTree(server.pid)).map(({ command }) => command);
      expect(commands.filter((command) => command.includes('postgres -D'))).toEqual([]);
      const store = await openStorefront(server.url);
      expectOk(await store.write('0190a000-0000-7000-8000-000000000002'));
      await server.stop();
      // An empty one of its own would be open to whoever sets it up.
      await expect(startServer({ dataDir: server.dataDir, config: unlimited })).rejects.toThrow(
        `data_dir ${server.dataDir} was in use, and its database is gone: set database.url`,
      );
      await rm(dirname(server.dataDir), { recursive: true });
    } finally {
      await cluster.remove();
    }
  });

  it('refuses in one line a role that may not make databases', async () => {
    const cluster = await makeTestCluster();
    try {
      const external = await cluster.prepare();
      await external.start();
      await ask(external, "create role weak login password 'a-password'");
      await ask(external, 'create database weak');
      const url = `postgres://weak:a-password@/weak?host=${encodeURIComponent(external.access.host)}`;
      const refused = await startServer({ config: { database: { url } } }).catch((error: Error) =>
        error.message
      );
      expect(refused).toMatch(/^bulkhead: .*CREATEDB.*$/m);
      expect(refused).not.toContain('a-password');
    } finally {
      await cluster.remove();
    }
  });
});
