// The embedded PostgreSQL from its making to its crashes.
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StartRefused } from '../../../supervisor/start-refused.ts';
import { ask, makeTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { measured } from '../../harness/measured.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await makeTestCluster();
});
afterEach(() => cluster.remove());

/** Its process number. */
async function postmaster(): Promise<number> {
  const text = await readFile(join(cluster.dir, 'postgresql', 'data', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

describe('the embedded PostgreSQL', () => {
  it('keeps its data, makes the cluster once, and starts fast then', async () => {
    const first = await cluster.prepare();
    await first.start();
    await ask(first, 'create table kept as select 42 as response');
    await first.stop();
    expect(await cluster.processes()).toEqual([]);
    const began = performance.now();
    const second = await cluster.prepare();
    await second.start();
    const took = performance.now() - began;
    expect(await ask(second, 'select response from kept')).toEqual([{ response: 42 }]);
    expect(cluster.reports).toEqual([
      `info making the PostgreSQL cluster ${join(cluster.dir, 'postgresql', 'data')}`,
    ]);
    expect(took).toBeLessThan(3000);
  });

  it('says in one line why it does not start', async () => {
    const made = await cluster.prepare();
    await made.start();
    await cluster.stop();
    // As from a PostgreSQL of another release.
    const data = join(cluster.dir, 'postgresql', 'data');
    await writeFile(join(data, 'PG_VERSION'), '17\n');
    const other = await cluster.prepare();
    await expect(other.start()).rejects.toThrow(
      new StartRefused(
        `postgres does not start: exited with code 1: in ${data}: database files are incompatible with server`,
      ),
    );
  });

  it('says in one line why it is down for what fails as long as it is', async () => {
    const made = await cluster.prepare();
    await made.start();
    const failure = new StartRefused('the database does not respond');
    expect(made.withLastError(failure)).toBe(failure);
    const data = join(cluster.dir, 'postgresql', 'data');
    await writeFile(join(data, 'PG_VERSION'), '17\n');
    process.kill(await postmaster(), 'SIGKILL');
    const complaint = 'database files are incompatible with server';
    await expect.poll(() => cluster.lines.join('\n'), { timeout: 60_000 }).toContain(complaint);
    expect(made.withLastError(failure)).toEqual(
      new StartRefused(`the database does not respond: in ${data}: ${complaint}`),
    );
    const own = new Error('a mistake of ours');
    expect(made.withLastError(own)).toBe(own);
  });

  it('begins again when a crash left a cluster half made', async () => {
    await mkdir(join(cluster.dir, 'postgresql', 'data.new', 'base'), { recursive: true });
    await writeFile(join(cluster.dir, 'postgresql', 'data.new', 'PG_VERSION'), '18');
    const server = await cluster.prepare();
    await server.start();
    expect(await readdir(join(cluster.dir, 'postgresql'))).not.toContain('data.new');
  });

  it('leaves nothing that would be taken for a cluster when it is stopped while making one', async () => {
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    await expect(cluster.prepare({ stop: stop.signal })).rejects.toThrow();
    expect(await readdir(join(cluster.dir, 'postgresql'))).not.toContain('data');
  });

  it('is up again within 5 s when its postmaster is killed under a long statement', measured, async () => {
    const server = await cluster.prepare();
    await server.start();
    const long = ask(server, 'select pg_sleep(30)').catch((error: Error) => error);
    await expect.poll(() => ask(server, "select 1 from pg_stat_activity where query = 'select pg_sleep(30)'"))
      .toHaveLength(1);
    const began = performance.now();
    process.kill(await postmaster(), 'SIGKILL');
    await vi.waitFor(() => ask(server, 'select 1', { connect_timeout: 1 }), { timeout: 5000, interval: 20 });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await long).toBeInstanceOf(Error);
  });

  it('starts although the number in a left-over postmaster.pid is another process now', async () => {
    const first = await cluster.prepare();
    await first.start();
    const file = join(cluster.dir, 'postgresql', 'data', 'postmaster.pid');
    const text = await readFile(file, 'utf8');
    await first.stop();
    await writeFile(file, text.replace(/^\d+/, String(process.pid)), { mode: 0o600 });
    const second = await cluster.prepare();
    await second.start();
    expect(await ask(second, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it.each([
    { why: 'is too long for one', name: 'x'.repeat(90) },
    { why: 'has a comma, which would end it', name: 'one,two' },
  ])('puts its socket elsewhere when the path $why, and cleans up', async ({ name }) => {
    const dataDir = join(cluster.dir, name);
    await mkdir(dataDir, { mode: 0o711 });
    await chmod(dataDir, 0o711);
    const server = await cluster.prepare({ dataDir });
    await server.start();
    expect(server.access.host).not.toContain(dataDir);
    expect((await stat(server.access.host)).mode & 0o777).toBe(0o700);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    await expect(stat(server.access.host)).rejects.toThrow('ENOENT');
  });
});
