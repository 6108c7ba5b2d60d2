// The command line of a hook runner: the one place where its walls are spelled out. See docs/explanation/walls.md.
import type { SandboxLevel } from '../protocol.ts';
import type { Command } from '../spawn.ts';
import { hookNice } from './priority.ts';
import { maxProcesses } from './shares/workspace-group.ts';

/** The settings that all runners of a server share. Paths are absolute. */
export interface RunnerPlan {
  level: SandboxLevel;
  platform: string;
  /** The users that runners run as, one each; undefined without root: they run as the server's own. */
  users: { first: number; count: number } | undefined;
  /** Hooks are compiled to machine code. */
  jit: boolean;
  /** The Deno executable and the folder of the runner's code: both readable by the runner's user. */
  deno: string;
  code: string;
  /** The folder of compiled code, which the runner's user can read and nobody change; see `runner-cache.ts`. */
  cache?: string | undefined;
  /** Shared libraries of Deno, at level `os`. */
  libraries: readonly string[];
  /** The seccomp filter, at level `os`. */
  filter: string;
  /** `nice` is empty where the machine has none. */
  tools: { bwrap: string; setpriv: string; nice: string };
  /** The `oom_score_adj` of runners; undefined where the kernel has none. */
  oomScore: number | undefined;
}

/** The settings of one runner. */
export interface RunnerInstance {
  /** Which program of the code folder. */
  program: string;
  /** No other living runner of the server has the same. */
  slot: number;
  /** MiB for the whole process. */
  memory: number;
  /** The file into which it writes 0 to be in the control group of its workspace; undefined where there is none. */
  group?: string | undefined;
}

/** Every permission that Deno knows, refused; nothing fetched, read or remembered but the program and its compiled code. */
function denoFlags({ cache }: RunnerPlan): string[] {
  return [
    ...['--quiet', '--no-prompt', '--no-config', '--no-lock', '--no-remote', '--no-npm', '--cached-only'],
    ...['--node-modules-dir=none', ...cache === undefined ? ['--no-code-cache'] : [], '--no-check'],
    ...['--deny-read', '--deny-write', '--deny-net', '--deny-env', '--deny-sys', '--deny-run', '--deny-ffi'],
    '--deny-import',
  ];
}

/** The same for a check of types, which runs nothing. */
const checkFlags = [
  ...['--quiet', '--config=/types/deno.json', '--no-lock', '--no-remote', '--no-npm', '--cached-only'],
  ...['--node-modules-dir=none', '--no-code-cache', '--deny-import'],
];

/** Where the folder of compiled code is at level `os`: beside the libraries. */
const cacheInside = '/lib/runner-cache';

/**
 * Bytes at the end of its heap that `malloc` neither keeps nor takes ahead, half and an eighth of what it would: 0.3 MiB
 * of a runner that waits (https://www.gnu.org/software/libc/manual/html_node/Malloc-Tunable-Parameters.html).
 */
const givesBackSoon = { MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_TOP_PAD_: '16384' };

/**
 * The environment, all of it. Where Deno's cache cannot be made or written, `localStorage` and `caches` fail instead of
 * being shared between apps; told to cache no transpiled code, it does not try for 150 ms to write there. Told of no way to
 * graphics, it loads none of the machine's libraries for them, which write to the home of their user, whatever `HOME` says.
 * Without a home it would ask the system's database of users for one, and keep the libraries of that in its memory.
 */
function environmentOf(
  { cache, level, jit }: Pick<RunnerPlan, 'cache' | 'level' | 'jit'>,
): Record<string, string> {
  return {
    NO_COLOR: '1',
    DENO_NO_UPDATE_CHECK: '1',
    DENO_DIR: cache === undefined ? '/proc/nonexistent' : level === 'os' ? cacheInside : cache,
    DENO_EMIT_CACHE_MODE: 'disable',
    DENO_WEBGPU_BACKEND: 'none',
    ...jit ? {} : givesBackSoon,
    ...level === 'os' ? {} : { HOME: '/proc/nonexistent' },
  };
}

/** V8 reserves so much address space for machine code, which counts as data. MiB. */
const codeRange = 512;
/** Descriptors of a runner: its own, and those of Deno's event loop and threads. */
const descriptors = 32;

/** The command of one runner. It talks over its descriptor 3 and ends with the supervisor. */
export function runnerCommand(plan: RunnerPlan, seat: RunnerInstance): Command {
  return commandOf(plan, [
    ...limits(plan, seat),
    ...identity(plan, seat),
    ...namespaces(plan, cacheMount(plan, '--ro-bind')),
    ...deno(plan, seat),
  ]);
}

/** The same, but that the process can write files, and so fill the folder of compiled code. No hook ever runs in it. */
export function fillingCommand(plan: RunnerPlan, seat: RunnerInstance): Command {
  return commandOf(plan, [
    ...limits(plan, seat, { writes: true }),
    ...identity(plan, seat),
    ...namespaces(plan, cacheMount(plan, '--bind')),
    ...deno(plan, seat),
  ]);
}

function commandOf(plan: RunnerPlan, [file = '', ...args]: readonly string[]): Command {
  const own = plan.platform === 'linux' ? 'none' : 'KILL';
  return { file, args, env: environmentOf(plan), socket: true, orphanSignal: own };
}

function cacheMount({ cache }: RunnerPlan, how: '--ro-bind' | '--bind'): string[] {
  return cache === undefined ? [] : [how, cache, cacheInside];
}

/**
 * A check of types: whose user, and the names of the files in `folder`/app. In `folder`/types are `hooks.d.ts` and
 * `deno.json`.
 */
export interface CheckInstance {
  slot: number;
  folder: string;
  files: readonly string[];
}

/** The memory that TypeScript's compiler needs, in MiB. */
const checkMemory = 512;

/** `deno check` behind the walls of level `os`: of the machine it sees what a runner sees, and the files. */
export function checkCommand(plan: RunnerPlan, { slot, folder, files }: CheckInstance): Command {
  // It interprets nothing of the author's, and takes five times as long without machine code.
  const roomy = { ...plan, jit: true, cache: undefined };
  const seat = { program: '', slot, memory: checkMemory };
  const command = [
    ...limits(roomy, seat),
    ...identity(roomy, seat),
    ...namespaces(roomy, ['--ro-bind', `${folder}/app`, '/app', '--ro-bind', `${folder}/types`, '/types']),
    ...['/deno', 'check', ...checkFlags, `--v8-flags=--max-heap-size=${checkMemory - 112}`],
    ...['/types/hooks.d.ts', ...files.map((file) => `/app/${file}`)],
  ];
  const [file = '', ...args] = command;
  return { file, args, env: environmentOf(roomy), orphanSignal: 'none' };
}

/**
 * Limits that the process inherits; all in one shell, which then becomes the next command. Its descriptor 4 is the filter
 * at level `os`, which bubblewrap reads and closes, and the folder of the program where it finds that so.
 */
function limits(plan: RunnerPlan, { memory, group }: RunnerInstance, { writes = false } = {}): string[] {
  const set = [`ulimit -n ${descriptors}`, 'ulimit -c 0', ...writes ? [] : ['ulimit -f 0']];
  if (plan.platform === 'linux') {
    set.unshift(`ulimit -d ${(memory + (plan.jit ? codeRange : 0)) * 1024}`);
  }
  if (plan.oomScore !== undefined) {
    // Missing where a container has its own kernel. No wall depends on it.
    set.unshift(`{ echo ${plan.oomScore} >/proc/self/oom_score_adj; } 2>/dev/null; true`);
  }
  // Counted by user, so only where the user is the runner's alone. dash has another letter for it.
  if (plan.users !== undefined) {
    set.push(`{ ulimit -u ${maxProcesses} 2>/dev/null || ulimit -p ${maxProcesses}; }`);
  }
  // First, so that nothing is done outside. Where that fails, the runner does not start.
  if (group !== undefined) set.unshift('echo 0 >"$1" && shift');
  const isOs = plan.level === 'os';
  const opened = isOs || findsCodeOpen(plan) ? ' 4<"$0"' : '';
  const shell = [
    '/bin/sh',
    '-c',
    `${set.join(' && ')} && exec "$@"${opened}`,
    isOs ? plan.filter : plan.code,
    ...group === undefined ? [] : [group],
  ];
  // All that the process starts must have the priority, and some of it before anybody could change it from outside.
  return plan.tools.nice === '' ? shell : [...shell, plan.tools.nice, '-n', String(hookNice)];
}

/** A user of its own, no way to another one, and an end with the supervisor. */
function identity({ level, platform, users, tools }: RunnerPlan, { slot }: RunnerInstance): string[] {
  if (platform !== 'linux' || (users === undefined && level === 'os')) return [];
  const common = ['--no-new-privs', '--pdeathsig', 'KILL'];
  if (users === undefined) return [tools.setpriv, ...common];
  const uid = String(users.first + slot);
  const own = ['--reuid', uid, '--regid', uid, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all'];
  return [tools.setpriv, ...own, ...common];
}

/** Nothing of the machine but Deno, its libraries and the runner's code, all read-only. */
function namespaces(plan: RunnerPlan, more: readonly string[]): string[] {
  if (plan.level !== 'os') return [];
  const readOnly = plan.libraries.flatMap((path) => ['--ro-bind', path, path]);
  const set = Object.entries(environmentOf(plan)).flatMap(([name, value]) => ['--setenv', name, value]);
  return [
    plan.tools.bwrap,
    ...['--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1', '--clearenv', ...set],
    ...['--ro-bind', plan.deno, '/deno', '--ro-bind', plan.code, '/runner', ...readOnly, ...more],
    // Deno's Node modules need /proc, which shows nothing but the runner itself.
    ...['--proc', '/proc', '--dev-bind', '/dev/null', '/dev/null', '--remount-ro', '/'],
    ...['--cap-drop', 'ALL', '--hostname', 'sandbox', '--chdir', '/', '--seccomp', '4'],
  ];
}

/**
 * A runner waits most of its time, so its memory counts: little room for young objects and no threads for the collector
 * are 1 MiB less at rest, 14 MiB after work, and cost a call nothing. The compiler of `hooks.jit` needs the threads. The
 * runner has garbage collected when it rests, and no hook file is to have that done. A global that V8 puts there cannot be
 * deleted, so it has the name of one that the runner gives another value before it loads them.
 */
const small = [
  ...['--jitless', '--optimize-for-size', '--max-semi-space-size=1', '--single-threaded'],
  '--expose-gc-as=cronAdd',
];

function findsCodeOpen({ level, platform }: RunnerPlan): boolean {
  return level === 'deno' && platform === 'linux';
}

/** The folder of the program as the process knows it: the stacks of errors show it to hook code. */
function folderOf(plan: RunnerPlan): string {
  return plan.level === 'os' ? '/runner' : findsCodeOpen(plan) ? '/proc/self/fd/4' : plan.code;
}

function deno(plan: RunnerPlan, { program, memory }: RunnerInstance): string[] {
  // The collector must know a bound below the limit, or garbage alone would reach it.
  const heap = Math.max(Math.floor(memory / 2), memory - 112);
  const v8 = `--v8-flags=${[...plan.jit ? [] : small, `--max-heap-size=${heap}`].join()}`;
  const executable = plan.level === 'os' ? '/deno' : plan.deno;
  return [executable, 'run', ...denoFlags(plan), v8, `${folderOf(plan)}/${program}`];
}
