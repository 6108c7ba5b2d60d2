// How the kernel ranks hook processes against the server's own, and what they inherit from whoever starts it.
import { chmod, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { isApi, processTree } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront } from '../harness/storefront.ts';

const isRoot = process.getuid?.() === 0;
const hooks = '/api/workspaces/acme/apps/shop/hooks';
const nobody = { uid: 65_534, gid: 65_534 };

/** The processes that run hooks, and the server's own. */
async function processes(server: TestServer): Promise<{ runner: number; own: number[] }> {
  const master = (await openStorefront(server.url)).master;
  expectOk(await master.put(`${hooks}/hi.js`, { source: `routerAdd('GET', '/hi', () => 'hi');` }));
  const tree = await processTree(server.pid);
  const runner = tree.find(({ command }) => /^\S*\/deno run .*--deny-read/.test(command));
  // Those that stay: a connection's process of PostgreSQL may end at any moment.
  const own = tree.filter((row) =>
    row.pid === server.pid || isApi(row) ||
    /^postgres: (checkpointer|walwriter)|\/postgres -D/.test(row.command)
  );
  if (runner === undefined) throw new Error('no runner was started');
  return { runner: runner.pid, own: own.map(({ pid }) => pid) };
}

const read = (pid: number, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8');
const scoreOf = async (pid: number) => Number(await read(pid, 'oom_score_adj'));
/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const niceOf = async (pid: number) => Number((await read(pid, 'stat')).split(') ')[1]?.split(' ')[16]);
/** Empty for a process that is in no session of its own: Linux gives the first session no autogroup. */
const sessionOf = async (pid: number) => (await read(pid, 'autogroup').catch(() => 'no autogroups')).trim();

/** True of root, unless a container keeps that right from it. */
async function canLower(): Promise<boolean> {
  const { exitCode } = await execa('sh', ['-c', 'echo -500 >/proc/self/oom_score_adj'], { reject: false });
  return exitCode === 0;
}

async function openFiles(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  return await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => 'closed')));
}

const starters: [who: string, user: typeof nobody | undefined][] = isRoot
  ? [['root', undefined], ['another user', nobody]]
  : [['this user', undefined]];

describe.each(starters)('started by %s', (_who, user) => {
  let home = '';
  let secret = '';
  let server: TestServer;
  let runner = 0;
  let own: number[];
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'bulkhead-priority-'));
    await chmod(home, 0o755);
    secret = join(home, 'secret');
    await writeFile(secret, 'of whoever started the server', { mode: 0o644 });
    server = await startServer({ ...user && { user }, inherited: secret });
    ({ runner, own } = await processes(server));
  });
  afterAll(async () => {
    await server.stop();
    await rm(home, { recursive: true });
  });

  it('hook.priority: the processor is shared out to the server before hooks', async () => {
    expect(await niceOf(runner)).toBe(2);
    for (const pid of own) expect(await niceOf(pid)).toBe(0);
    await expect.poll(() => sessionOf(runner)).toMatch(/nice 2$|no autogroups$/);
    for (const pid of own) expect(await sessionOf(pid)).toMatch(/nice 0$|no autogroups$|^$/);
  });

  it('hook.oom: memory that runs out ends hooks before the server and its database', async () => {
    expect(own.length).toBeGreaterThan(2);
    const scores = await Promise.all(own.map(scoreOf));
    expect(await scoreOf(runner)).toBeGreaterThanOrEqual(500);
    expect(await scoreOf(runner)).toBeGreaterThanOrEqual(Math.max(...scores) + 500);
    if (user === undefined && await canLower()) expect(scores).toEqual(own.map(() => -500));
  });

  it('hook.descriptors: files that were open where the server was started are open in none of its processes', async () => {
    for (const pid of [runner, ...own]) expect(await openFiles(pid)).not.toContain(secret);
  });
});
