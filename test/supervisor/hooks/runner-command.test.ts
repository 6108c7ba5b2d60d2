// The command line of hook runners, word for word.
import { describe, expect, it } from 'vitest';
import { fillingCommand, runnerCommand, type RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';

const plan: RunnerPlan = {
  level: 'os',
  platform: 'linux',
  users: { first: 1_900_000_000, count: 10_000 },
  jit: false,
  deno: '/srv/deno',
  code: '/srv/hook-runner',
  libraries: ['/lib/libc.so.6'],
  filter: '/data/runtime/seccomp',
  tools: { bwrap: '/usr/bin/bwrap', setpriv: '/usr/bin/setpriv', nice: '/usr/bin/nice' },
  oomScore: 500,
};
const seat = { program: 'main.ts', slot: 7, memory: 256 };

const words = (change: Partial<RunnerPlan> = {}, memory = 256) => {
  const { file, args } = runnerCommand({ ...plan, ...change }, { ...seat, memory });
  return [file, ...args];
};

const behind = ['/usr/bin/nice', '-n', '2'];
const goesFirst = '{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null; true';
const limits = `${goesFirst} && ulimit -d 262144 && ulimit -n 32 && ulimit -c 0 && ulimit -f 0`;
const ownProcesses = '{ ulimit -u 48 2>/dev/null || ulimit -p 48; }';
const ownUser = '/usr/bin/setpriv --reuid 1900000007 --regid 1900000007 --clear-groups --bounding-set=-all ' +
  '--inh-caps=-all --no-new-privs --pdeathsig KILL';
const namespaces = '/usr/bin/bwrap --unshare-all --die-with-parent --new-session --as-pid-1 --clearenv ' +
  '--setenv NO_COLOR 1 --setenv DENO_NO_UPDATE_CHECK 1 --setenv DENO_DIR /proc/nonexistent ' +
  '--setenv DENO_EMIT_CACHE_MODE disable --setenv DENO_WEBGPU_BACKEND none ' +
  '--setenv MALLOC_TRIM_THRESHOLD_ 65536 --setenv MALLOC_TOP_PAD_ 16384 ' +
  '--ro-bind /srv/deno /deno --ro-bind /srv/hook-runner /runner ' +
  '--ro-bind /lib/libc.so.6 /lib/libc.so.6 --proc /proc --dev-bind /dev/null /dev/null --remount-ro / ' +
  '--cap-drop ALL --hostname sandbox --chdir / --seccomp 4';
const flags = '--quiet --no-prompt --no-config --no-lock --no-remote --no-npm --cached-only ' +
  '--node-modules-dir=none --no-code-cache --no-check --deny-read --deny-write --deny-net --deny-env --deny-sys ' +
  '--deny-run --deny-ffi --deny-import';
const small =
  '--jitless,--optimize-for-size,--max-semi-space-size=1,--single-threaded,--expose-gc-as=cronAdd';
const shell = (script: string, filter = '/data/runtime/seccomp') => ['/bin/sh', '-c', script, filter];

describe('sandbox.flags: the command line of a runner', () => {
  it('has every limit, wall and refusal at level os', () => {
    expect(words()).toEqual([
      ...shell(`${limits} && ${ownProcesses} && exec "$@" 4<"$0"`),
      ...behind,
      ...ownUser.split(' '),
      ...namespaces.split(' '),
      ...`/deno run ${flags} --v8-flags=${small},--max-heap-size=144 /runner/main.ts`.split(' '),
    ]);
  });

  it('puts it into the control group of its workspace before all else, where there is one', () => {
    const { args } = runnerCommand(plan, { ...seat, group: '/sys/fs/cgroup/hooks/ws-acme/cgroup.procs' });
    const [, script = '', filter, ...rest] = runnerCommand(plan, seat).args;
    const first = 'echo 0 >"$1" && shift && ';
    expect(args).toEqual([
      '-c',
      first + script,
      filter,
      '/sys/fs/cgroup/hooks/ws-acme/cgroup.procs',
      ...rest,
    ]);
  });

  it('has no namespaces and no filter at level deno', () => {
    expect(words({ level: 'deno', filter: '' })).toEqual([
      ...shell(`${limits} && ${ownProcesses} && exec "$@" 4<"$0"`, '/srv/hook-runner'),
      ...behind,
      ...ownUser.split(' '),
      ...`/srv/deno run ${flags} --v8-flags=${small},--max-heap-size=144 /proc/self/fd/4/main.ts`.split(' '),
    ]);
  });

  it('shows compiled code read-only at level os, and names its folder at level deno', () => {
    const usual = words();
    const cached = words({ cache: '/data/runtime/cache-os-1' });
    const at = usual.indexOf('--proc');
    const noCache = usual.indexOf('--no-code-cache');
    const changed = usual.map((word) => word === '/proc/nonexistent' ? '/lib/runner-cache' : word)
      .toSpliced(noCache, 1).toSpliced(at, 0, '--ro-bind', '/data/runtime/cache-os-1', '/lib/runner-cache');
    expect(cached).toEqual(changed);
    const plain = { ...plan, level: 'deno', filter: '' } as const;
    const { args, env } = runnerCommand({ ...plain, cache: '/data/runtime/cache-deno-1' }, seat);
    expect(args).toEqual(runnerCommand(plain, seat).args.filter((word) => word !== '--no-code-cache'));
    expect(env).toEqual({ ...runnerCommand(plain, seat).env, DENO_DIR: '/data/runtime/cache-deno-1' });
  });

  it('lets a program write files only to fill that folder', () => {
    const cached = { ...plan, cache: '/data/runtime/draft' };
    const { args } = runnerCommand(cached, seat);
    const filling = args.map((word, index) =>
      word === '--ro-bind' && args[index + 1] === '/data/runtime/draft' ? '--bind' : word
    );
    filling[1] = filling[1]?.replace(' && ulimit -f 0', '') ?? '';
    expect(fillingCommand(cached, seat).args).toEqual(filling);
  });

  it('leaves the user alone without root, and bounds no processes, which others of the user would count for', () => {
    expect(words({ users: undefined })).toEqual([
      ...shell(`${limits} && exec "$@" 4<"$0"`),
      ...behind,
      ...namespaces.split(' '),
      ...`/deno run ${flags} --v8-flags=${small},--max-heap-size=144 /runner/main.ts`.split(' '),
    ]);
    expect(words({ users: undefined, level: 'deno', filter: '' }).slice(7, 11)).toEqual(
      '/usr/bin/setpriv --no-new-privs --pdeathsig KILL'.split(' '),
    );
  });

  it('adds the room that machine code reserves to the limit of memory when hooks are compiled', () => {
    const line = words({ jit: true });
    expect(line[2]).toContain('ulimit -d 786432 ');
    expect(line).toContain('--v8-flags=--max-heap-size=144');
  });

  it.each([[128, 64], [256, 144], [1024, 912]])(
    'leaves of %i MiB %i to the heap of JavaScript',
    (memory, heap) => {
      const line = words({}, memory);
      expect(line[2]).toContain(`ulimit -d ${memory * 1024} `);
      expect(line).toContain(`--v8-flags=${small},--max-heap-size=${heap}`);
    },
  );

  it('grants nothing, and hands nothing down', () => {
    for (const level of ['deno', 'os'] as const) {
      for (const users of [plan.users, undefined]) {
        const command = runnerCommand({ ...plan, level, users }, seat);
        expect(command.args.join(' ')).not.toMatch(/--allow|--unstable|-A\b/);
        expect(command).toMatchObject({ socket: true, orphanSignal: 'none' });
        expect(Object.keys(command.env).sort()).toEqual([
          'DENO_DIR',
          'DENO_EMIT_CACHE_MODE',
          'DENO_NO_UPDATE_CHECK',
          'DENO_WEBGPU_BACKEND',
          ...level === 'deno' ? ['HOME'] : [],
          'MALLOC_TOP_PAD_',
          'MALLOC_TRIM_THRESHOLD_',
          'NO_COLOR',
        ]);
        expect(command.env['HOME'] ?? '/proc/nonexistent').toBe('/proc/nonexistent');
      }
    }
  });

  it('does without what only Linux has elsewhere, where a watcher ends the runner with the supervisor', () => {
    const command = runnerCommand({
      ...{ ...plan, platform: 'darwin', level: 'deno', users: undefined, oomScore: undefined },
    }, seat);
    expect(command.orphanSignal).toBe('KILL');
    expect(command.args.slice(0, 7)).toEqual([
      '-c',
      'ulimit -n 32 && ulimit -c 0 && ulimit -f 0 && exec "$@"',
      '/srv/hook-runner',
      ...behind,
      '/srv/deno',
    ]);
    expect(command.args.at(-1)).toBe('/srv/hook-runner/main.ts');
  });
});
