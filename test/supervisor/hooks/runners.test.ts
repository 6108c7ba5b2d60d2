// Hook runners as an API process meets them: started, bounded, reported, and ended, at both levels.
import { constants } from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';
import { isAlive, processTree } from '../../harness/processes.ts';
import { makeRunnerHome, openDesk, planAt, printedBy, type TestRunners } from './runner-desk.ts';
import { type Program, writePrograms } from './runner-programs.ts';

/** O_ACCMODE of Linux. */
const accessMode = 3;
/** How V8, Rust and the C library say that there is no more memory. */
const outOfMemory = /out of memory|memory allocation of \d+ bytes failed|cannot allocate memory/i;
const isRoot = process.getuid?.() === 0;
let home = '';
let code = '';
beforeAll(async () => {
  home = await makeRunnerHome();
  code = await writePrograms(home);
});
afterAll(() => rm(home, { recursive: true }));

/** The innermost process below the one that leads. */
async function innermost(pid: number): Promise<number> {
  return (await processTree(pid)).at(-1)?.pid ?? pid;
}

/** Files that a process has open, besides /dev/null, and how. */
async function openFiles(pid: number): Promise<{ path: string; access: number }[]> {
  const opened = (await readdir(`/proc/${pid}/fd`)).map(async (fd) => {
    const path = await readlink(`/proc/${pid}/fd/${fd}`);
    const info = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8');
    return { path, access: Number.parseInt(/^flags:\s+(\d+)$/m.exec(info)?.[1] ?? '', 8) & accessMode };
  });
  return (await Promise.all(opened)).filter(({ path }) => path.startsWith('/') && path !== '/dev/null');
}

/** The files whose code a process has loaded. */
async function loaded(pid: number): Promise<Set<string>> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  return new Set(maps.match(/\/\S+\.so\b\S*/g));
}

describe.each(['deno', 'os'] as const)('a runner at level %s', (level) => {
  let plan: RunnerPlan;
  let desk: TestRunners;
  beforeAll(async () => {
    plan = await planAt(level, home, code);
  });
  const open = (program: Program) => desk = openDesk({ plan, program });

  it('starts with a channel that only the API has, and ends with it', async () => {
    const { socket, id } = await open('echo').start();
    socket.write('a message');
    await desk.heard(id, 'helloa message');
    desk.desk.handle({ type: 'runner_stop', id, kill: false });
    socket.destroy();
    await desk.endOf(id);
    expect(printedBy(desk, id)).toBe('');
  });

  it('sandbox.flags: shows every refusal in its command line, and nothing granted', async () => {
    const { pid, id } = await open('echo').start();
    // Until then it may still be one of the programs that put up the walls.
    await desk.heard(id, 'hello');
    const words = (await readFile(`/proc/${await innermost(pid)}/cmdline`, 'utf8')).split('\0');
    for (const what of ['read', 'write', 'net', 'env', 'sys', 'run', 'ffi', 'import']) {
      expect(words).toContain(`--deny-${what}`);
    }
    for (const flag of ['--no-prompt', '--no-config', '--no-remote', '--no-npm', '--cached-only']) {
      expect(words).toContain(flag);
    }
    expect(words).toContain(
      '--v8-flags=--jitless,--optimize-for-size,--max-semi-space-size=1,--single-threaded,--expose-gc-as=cronAdd,' +
        '--max-heap-size=144',
    );
    expect(words.filter((word) => /^(-A|--allow|--unstable)/.test(word))).toEqual([]);
    await desk.kill(id);
  });

  it('sandbox.os-layer: has a user of its own, no rights, limits, and no descriptors but its own and of its code', async () => {
    const { pid, id } = await open('echo').start();
    await desk.heard(id, 'hello');
    const inner = await innermost(pid);
    const status = await readFile(`/proc/${inner}/status`, 'utf8');
    const value = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
    expect({ rights: Number.parseInt(value('CapEff'), 16), noNew: value('NoNewPrivs') }).toEqual({
      rights: 0,
      noNew: '1',
    });
    expect(value('Seccomp')).toBe(level === 'os' ? '2' : '0');
    const uids = value('Uid').split('\t').map(Number);
    const own = plan.users?.first ?? process.getuid?.() ?? 0;
    expect(uids).toEqual([own, own, own, own]);
    if (isRoot) expect(own).not.toBe(0);
    const limits = await readFile(`/proc/${inner}/limits`, 'utf8');
    expect(limits).toMatch(/^Max data size +268435456 +268435456/m);
    expect(limits).toMatch(/^Max file size +0 +0/m);
    expect(limits).toMatch(/^Max open files +32 +32/m);
    for (const space of ['pid', 'net', 'mnt', 'ipc', 'uts']) {
      const same = await readlink(`/proc/${inner}/ns/${space}`) === await readlink(`/proc/self/ns/${space}`);
      expect([space, same]).toEqual([space, level === 'deno']);
    }
    const opened = await openFiles(inner);
    // Those of compiled code stay open, for reading alone; every runner could open them anew.
    const shared = level === 'os' ? '/lib/runner-cache' : plan.cache ?? 'none';
    const others = opened.filter(({ path }) => !path.startsWith(`${shared}/`)).map(({ path }) => path);
    // So is the folder of its code, which it could open anew too, if it knew where that is.
    expect(others).toEqual(level === 'os' ? [] : [plan.code]);
    expect(opened.filter(({ access }) => access !== constants.O_RDONLY)).toEqual([]);
    const environment = (await readFile(`/proc/${inner}/environ`, 'utf8')).split('\0').map((pair) =>
      pair.split('=')[0]
    );
    expect(environment.filter((name) => name !== '' && name !== 'PWD').sort()).toEqual([
      'DENO_DIR',
      'DENO_EMIT_CACHE_MODE',
      'DENO_NO_UPDATE_CHECK',
      'DENO_WEBGPU_BACKEND',
      ...level === 'deno' ? ['HOME'] : [],
      'MALLOC_TOP_PAD_',
      'MALLOC_TRIM_THRESHOLD_',
      'NO_COLOR',
    ]);
    await desk.kill(id);
  });

  it('reaches no file, environment, program, network or storage', async () => {
    const { socket, id } = await open('wall').start();
    socket.write('go');
    await desk.heard(id, 'hellogopassed:');
    await desk.kill(id);
  });

  it('loads no library when it asks for graphics: those of the machine write to the home of its user', async () => {
    const { socket, id, pid } = await open('graphics').start();
    await desk.heard(id, 'hello');
    const before = await loaded(await innermost(pid));
    expect(before.size).toBeGreaterThan(0);
    socket.write('go');
    await desk.heard(id, 'hellogoasked');
    expect(await loaded(await innermost(pid))).toEqual(before);
    await desk.kill(id);
  });

  it.each<[Program, string]>([['loops', 'an endless loop'], ['deaf', 'one that does not hear SIGTERM']])(
    'is killed within 500 ms out of %s (%s)',
    async (program) => {
      const { socket, id, pid } = await open(program).start();
      socket.write('go');
      await desk.heard(id, 'hellogo');
      const inner = await innermost(pid);
      const asked = performance.now();
      await desk.kill(id);
      await vi.waitFor(async () => expect(await isAlive(inner)).toBe(false), { timeout: 5000, interval: 2 });
      expect(performance.now() - asked).toBeLessThan(500);
    },
  );

  it('that is asked to stop and does not is killed after a second', async () => {
    const { socket, id } = await open('loops').start();
    socket.write('go');
    await desk.heard(id, 'hellogo');
    desk.desk.handle({ type: 'runner_stop', id, kill: false });
    await desk.endOf(id);
  });

  it('that ends while what it wrote has to wait has ended once that was passed on', async () => {
    let now = 0;
    // What is written at once is too much, and what comes next is not.
    desk = openDesk({ plan, program: 'shouts', now: () => now += 10_000 });
    const { socket, id } = await desk.start();
    socket.on('error', () => 'it may die while it is written to').write('go');
    await desk.endOf(id);
    expect(printedBy(desk, id)).toMatch(/last words\n$/);
  });

  it.each<[Program, RegExp]>([
    ['exits', /^$/],
    ['fails', /^\\x1b\[31mred\\x07 words\n$/],
    ['throws', /top level/],
    ['heap', outOfMemory],
    ['buffers', /Array buffer allocation failed/],
  ])('that %s has ended, and its last words were passed on', async (program, words) => {
    const { socket, id } = await open(program).start();
    socket.on('error', () => 'it may die while it is written to').write('go');
    await desk.endOf(id);
    expect(printedBy(desk, id)).toMatch(words);
  });

  it('tells what it has used', async () => {
    const { socket, id } = await open('loops').start();
    socket.write('go');
    await vi.waitFor(async () => {
      const { cpu_ms, rss_bytes } = await desk.measure(id);
      expect(cpu_ms).toBeGreaterThan(200);
      expect(rss_bytes).toBeGreaterThan(20 * 1024 * 1024);
      expect(rss_bytes).toBeLessThan(120 * 1024 * 1024);
    }, { timeout: 10_000 });
    await desk.kill(id);
  });
});
