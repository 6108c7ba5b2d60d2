// Runners where the server may make control groups: they begin in that of their workspace, and end as the kernel says.
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';
import { processTree } from '../../harness/processes.ts';
import { makeRunnerHome, openDesk, ownShares, planAt, type TestRunners } from './runner-desk.ts';
import { writePrograms } from './runner-programs.ts';
import { type GroupFolder, makeGroupFolder } from './shares/group-folder.ts';

const acme = 'hooks/ws-acme';
let home = '';
let code = '';
let folder: GroupFolder;
let logged: unknown[] = [];
beforeAll(async () => {
  home = await makeRunnerHome();
  code = await writePrograms(home);
});
afterAll(() => rm(home, { recursive: true }));
beforeEach(async () => {
  folder = await makeGroupFolder('/');
  logged = [];
});
afterEach(() => folder[Symbol.asyncDispose]());

function open(plan: RunnerPlan): TestRunners {
  // The shares of the test before may still find that their groups are gone, and say so.
  const own = logged;
  const shares = ownShares(folder.groups(), (_level, _message, fields) => own.push(fields));
  return openDesk({ plan, program: 'echo', shares });
}

/** Kills the process that runs hooks, as the kernel does when it ends one for want of memory. */
async function killInnermost({ pid }: { pid: number }): Promise<void> {
  process.kill((await processTree(pid)).at(-1)?.pid ?? pid, 'SIGKILL');
}

describe.each(['deno', 'os'] as const)('a runner at level %s', (level) => {
  let plan: RunnerPlan;
  beforeAll(async () => {
    plan = await planAt(level, home, code);
  });

  it('hook.cgroup: is in the group of its workspace before it runs anything else', async () => {
    const desk = open(plan);
    const { id } = await desk.start();
    await desk.heard(id, 'hello');
    expect(await folder.read(`${acme}/cgroup.procs`)).toBe('0\n');
    expect(await folder.read(`${acme}/memory.max`)).toBe(String(1_024 * 1_048_576));
    await desk.start('other');
    expect(await folder.read(`${acme}/pids.max`)).toBe('96');
    await desk.runners.stop();
  });

  it('that the kernel ends for want of memory is said to have ended for that, and not to have crashed', async () => {
    const desk = open(plan);
    for (let round = 1; round <= 5; round++) {
      const runner = await desk.start();
      await desk.heard(runner.id, 'hello');
      await folder.write(`${acme}/memory.events`, `oom 9\noom_kill ${round}\n`);
      await killInnermost(runner);
      await desk.endOf(runner.id);
      expect(desk.reports).toContainEqual({ type: 'runner_spent', id: runner.id, share: 'memory' });
    }
    expect(desk.rested).toEqual([]);
    const spent = { type: 'share_spent', share: 'hooks.workspace_memory_mb', workspace: 'acme', app: 'shop' };
    expect(logged).toContainEqual(expect.objectContaining(spent));
  });

  it('that is killed by something else has crashed', async () => {
    const desk = open(plan);
    const runner = await desk.start();
    await desk.heard(runner.id, 'hello');
    await folder.write(`${acme}/memory.events`, 'oom_kill 0\n');
    await killInnermost(runner);
    await desk.endOf(runner.id);
    expect(desk.reports.filter(({ type }) => type === 'runner_spent')).toEqual([]);
    expect(logged).toEqual([]);
  });

  it('does not start outside the group of its workspace', async () => {
    const desk = open(plan);
    await folder.write(`${acme}/cgroup.procs/in-the-way`, '');
    const { id } = await desk.start();
    await desk.endOf(id);
    expect(desk.reports).toContainEqual(expect.objectContaining({ type: 'runner_output', id }));
  });
});
