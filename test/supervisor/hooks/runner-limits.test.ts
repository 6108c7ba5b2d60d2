// What bounds the runners of all apps together, and each app: crashes, number, output, and the life of who asked.
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';
import { RunnerProcesses } from '../../../supervisor/hooks/runners.ts';
import type { RunnerReport } from '../../../supervisor/protocol.ts';
import { isAlive, processTree } from '../../harness/processes.ts';
import { makeRunnerHome, openDesk, ownShares, planAt } from './runner-desk.ts';
import { printedBy, startRequest, type TestRunners } from './runner-desk.ts';
import { writePrograms } from './runner-programs.ts';

let home = '';
let code = '';
let plan: RunnerPlan;
beforeAll(async () => {
  home = await makeRunnerHome();
  code = await writePrograms(home);
  plan = await planAt('deno', home, code);
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => rm(home, { recursive: true }));

/** Starts one and lets it end the way its program does. */
async function crash(desk: TestRunners, app = 'shop', workspace = 'acme'): Promise<void> {
  const { id, socket } = await desk.start(app, workspace);
  socket.on('error', () => 'it may die while it is written to').write('go');
  await desk.endOf(id);
}

/** https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
async function userOf(pid: number): Promise<string | undefined> {
  return /^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
}

describe('an app whose runners crash', () => {
  it('hook.crash-loop: is left down for 30 s after the fifth within a minute, alone', async () => {
    let clock = 1000;
    const desk = openDesk({ plan, program: 'exits', now: () => clock });
    for (let round = 0; round < 4; round++) await crash(desk);
    await crash(desk, 'other');
    expect(desk.rested).toEqual([]);
    await crash(desk);
    expect(desk.rested).toEqual(['shop']);
    clock += 10_000;
    await expect(desk.start()).rejects.toThrow(/"reason":"breaker_open","retry_ms":20000/);
    await crash(desk, 'other');
    clock += 20_000;
    // One try is allowed; it fails too, and the app rests again.
    await crash(desk);
    await expect(desk.start()).rejects.toThrow(/"retry_ms":30000/);
  });

  it('is not left down for crashes that are more than a minute apart, nor for those of an app of its name elsewhere', async () => {
    let clock = 1000;
    const desk = openDesk({ plan, program: 'exits', now: () => clock });
    for (let round = 0; round < 4; round++) await crash(desk);
    await crash(desk, 'shop', 'bank');
    clock += 60_001;
    await crash(desk);
    expect(desk.rested).toEqual([]);
  });

  it('is forgiven when its code changes', async () => {
    const desk = openDesk({ plan, program: 'fails' });
    for (let round = 0; round < 5; round++) await crash(desk);
    await expect(desk.start()).rejects.toThrow('breaker_open');
    desk.desk.handle({ type: 'runner_clear_crashes', workspace: 'acme', app: 'shop' });
    await crash(desk);
    desk.runners.clearCrashes({ workspace: 'acme', app: 'shop' });
    await crash(desk);
  });

  it('is left down in the API process that they were of, and forgiven in all of them', async () => {
    const desk = openDesk({ plan, program: 'fails' });
    for (let round = 0; round < 5; round++) await crash(desk);
    await expect(desk.start()).rejects.toThrow('breaker_open');
    const report = Promise.withResolvers<RunnerReport>();
    const other = desk.runners.connect((first, socket) => {
      socket?.destroy();
      report.resolve(first);
    });
    other.handle(startRequest(randomUUID()));
    expect(await report.promise).toMatchObject({ type: 'runner_started' });
    other.handle({ type: 'runner_clear_crashes', workspace: 'acme', app: 'shop' });
    await crash(desk);
    await desk.runners.stop();
  });

  it('is not blamed for runners that were stopped or killed, unless for a fault', async () => {
    const desk = openDesk({ plan, program: 'echo' });
    for (let round = 0; round < 6; round++) await desk.kill((await desk.start()).id);
    for (let round = 0; round < 5; round++) {
      const { id } = await desk.start();
      desk.desk.handle({ type: 'runner_stop', id, kill: true, fault: true });
      await desk.endOf(id);
    }
    await expect(desk.start()).rejects.toThrow('breaker_open');
  });
});

describe('runners', () => {
  it('are at most so many, with a user each, and room again when one ends', async () => {
    const desk = openDesk({ plan, program: 'echo', most: 3 });
    const three = await Promise.all([desk.start('a'), desk.start('b'), desk.start('c')]);
    await Promise.all(three.map(({ id }) => desk.heard(id, 'hello')));
    const users = await Promise.all(three.map(({ pid }) => userOf(pid)));
    expect(new Set(users).size).toBe(plan.users === undefined ? 1 : 3);
    await expect(desk.start('d')).rejects.toThrow(/"reason":"full","retry_ms":1000/);
    await desk.kill(three[0].id);
    await desk.start('d');
    await desk.runners.stop();
    for (const { pid } of three) expect(await isAlive(pid)).toBe(false);
  });

  it('take the places again of those that have ended or could not start, and leave one for a check of types', async () => {
    const users = plan.users && { ...plan.users, count: 3 };
    const most = users === undefined ? 2 : 10;
    const broken = openDesk({ plan: { ...plan, users, code: 'no\0path' }, program: 'echo', most });
    for (let round = 0; round < 4; round++) await expect(broken.start()).rejects.toThrow('cannot_start');
    const desk = openDesk({ plan: { ...plan, users }, program: 'echo', most });
    for (let round = 0; round < 4; round++) await desk.kill((await desk.start()).id);
    const { id } = await desk.start();
    await desk.start();
    await expect(desk.start()).rejects.toThrow(/"reason":"full"/);
    await desk.kill(id);
    await desk.start();
    await desk.runners.stop();
  });

  it('have the place again of a check of types that found no folder for its files, which is told', async () => {
    const walled = await planAt('os', home, code);
    const users = walled.users && { ...walled.users, count: 2 };
    const { desk, reports, runners, start, unchecked } = openDesk({
      plan: { ...walled, users },
      program: 'echo',
      most: 1,
    });
    vi.stubEnv('TMPDIR', '/nonexistent');
    for (const id of [randomUUID(), randomUUID()]) {
      desk.handle({ type: 'runner_check', id, workspace: 'acme', app: 'shop', files: [], types: '' });
      await expect.poll(() => reports).toContainEqual({ type: 'runner_checked', id, unchecked: 'failed' });
    }
    const error = expect.stringContaining("ENOENT: no such file or directory, mkdtemp '/nonexistent/");
    expect(unchecked).toEqual(Array(2).fill({ workspace: 'acme', app: 'shop', error }));
    await start();
    await runners.stop();
  });

  it.each<[string, (desk: TestRunners) => unknown]>([
    ['who asks is gone', ({ desk }) => desk.close()],
    ['the supervisor stops', ({ runners }) => runners.stop()],
  ])('do not start when %s before the walls are known', async (_what, end) => {
    const desk = openDesk({ plan, program: 'echo' });
    desk.desk.handle(startRequest(randomUUID()));
    await end(desk);
    await setImmediate();
    expect(desk.reports).toEqual([]);
  });

  it('sandbox.require: are refused where there is no wall, with what is missing', async () => {
    const reports: unknown[] = [];
    const runners = new RunnerProcesses({
      config: {
        dir: '',
        timeout_ms: 1,
        memory_mb: 256,
        idle_ms: 1,
        max_runners: 1,
        total_memory_mb: 0,
        sandbox: 'os',
        jit: false,
        type_check: false,
      },
      dataDir: '/nonexistent',
      walls: Promise.resolve({
        sandbox: { level: 'none', shares: 'none', why: 'no bubblewrap' },
        plan: undefined,
      }),
      now: () => 0,
      program: 'echo.ts',
      shares: ownShares(),
      onBreakerOpen: () => {},
      onUnchecked: () => {},
    });
    const id = randomUUID();
    const desk = runners.connect((report) => reports.push(report));
    desk.handle(startRequest(id));
    await expect.poll(() => reports).toHaveLength(1);
    expect(reports).toEqual([
      { type: 'runner_refused', id, reason: 'no_sandbox', retry_ms: 60_000, message: 'no bubblewrap' },
    ]);
  });

  it('end with the API process that asked for them', async () => {
    const desk = openDesk({ plan, program: 'deaf' });
    const { pid, socket } = await desk.start();
    socket.write('go');
    desk.desk.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('hook.stdout-flood: are made to wait when they write more than 64 KiB a second', async () => {
    const desk = openDesk({ plan, program: 'floods' });
    const { id, socket } = await desk.start();
    const written = () => printedBy(desk, id).length;
    socket.write('go');
    await expect.poll(written).toBeGreaterThan(65_536);
    const [before, since] = [written(), performance.now()];
    const cpu = process.cpuUsage();
    await vi.waitFor(() => expect(performance.now() - since).toBeGreaterThan(2000), { timeout: 5000 });
    const seconds = (performance.now() - since) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    // One more chunk of what the system holds for a pipe may be on its way.
    expect(written() - before).toBeLessThan((seconds + 2) * 65_536);
    expect((user + system) / 1e6 / seconds).toBeLessThan(0.2);
    await desk.kill(id);
  });
});

describe('a killed supervisor', () => {
  it('leaves no runner behind, in a loop or idle, at either level', async () => {
    const program = fileURLToPath(new URL('runner-parent.ts', import.meta.url));
    const parent = execa(process.execPath, [program, home, code], { buffer: false, reject: false });
    const leaders: number[] = [];
    for await (const line of parent) {
      leaders.push(Number(line));
      if (leaders.length < 4) continue;
      const trees = (await Promise.all(leaders.map(processTree))).flat().map(({ pid }) => pid);
      // Two runners of one process, and two of which bubblewrap waits for another.
      expect(trees).toHaveLength(6);
      parent.kill('SIGKILL');
      await vi.waitFor(async () => {
        const alive = await Promise.all(trees.map(isAlive));
        expect(trees.filter((_, index) => alive[index])).toEqual([]);
      }, { timeout: 1000, interval: 10 });
    }
    expect(leaders).toHaveLength(4);
  });
});
