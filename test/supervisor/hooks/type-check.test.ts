// The command line of a type check, whose walls are those of a runner; and whose turn it is.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { checkCommand, runnerCommand, type RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';
import { makeRunnerHome, openDesk, planAt } from './runner-desk.ts';
import { writePrograms } from './runner-programs.ts';

const plan: RunnerPlan = {
  level: 'os',
  platform: 'linux',
  users: { first: 70_000, count: 10 },
  jit: false,
  deno: '/opt/deno',
  code: '/opt/code',
  libraries: ['/lib/libc.so.6'],
  filter: '/data/seccomp',
  tools: { bwrap: '/usr/bin/bwrap', setpriv: '/usr/bin/setpriv', nice: '/usr/bin/nice' },
  oomScore: 500,
};

it('is that of a runner but for the files, the memory and what Deno is to do', () => {
  const check = checkCommand(plan, { slot: 3, folder: '/tmp/check', files: ['a.ts', 'b.js'] });
  const runner = runnerCommand({ ...plan, jit: true }, { program: 'main.js', slot: 3, memory: 512 });
  const at = check.args.indexOf('check');
  const rest = check.args.slice(at);
  const binds = ['--ro-bind', '/tmp/check/app', '/app', '--ro-bind', '/tmp/check/types', '/types'];
  const bound = check.args.indexOf('/tmp/check/app') - 1;
  expect(check.args.slice(bound, bound + binds.length)).toEqual(binds);
  const walls = [...check.args.slice(0, bound), ...check.args.slice(bound + binds.length, at)];
  expect(walls).toEqual(runner.args.slice(0, runner.args.indexOf('run')));
  expect(check.env).toEqual(runner.env);
  expect(check.socket).toBeUndefined();
  expect(rest).toEqual([
    'check',
    '--quiet',
    '--config=/types/deno.json',
    '--no-lock',
    '--no-remote',
    '--no-npm',
    '--cached-only',
    '--node-modules-dir=none',
    '--no-code-cache',
    '--deny-import',
    '--v8-flags=--max-heap-size=400',
    '/types/hooks.d.ts',
    '/app/a.ts',
    '/app/b.js',
  ]);
});

it('makes room for another workspace when its own has had several', async () => {
  const home = await makeRunnerHome();
  let clock = 1000;
  const { desk, reports, runners } = openDesk({
    plan: await planAt('os', home, await writePrograms(home)),
    program: 'echo',
    now: () => clock,
  });
  const ask = (workspace: string) => {
    const id = randomUUID();
    desk.handle({ type: 'runner_check', id, workspace, app: 'shop', files: [], types: '' });
    return id;
  };
  const loud = ask('loud');
  clock += 4000;
  const quiet = ask('quiet');
  const answered = () => reports.flatMap((report) => report.type === 'runner_checked' ? [report.id] : []);
  await expect.poll(answered, { timeout: 60_000 }).toEqual([quiet, loud]);
  await runners.stop();
  await rm(home, { recursive: true });
});
