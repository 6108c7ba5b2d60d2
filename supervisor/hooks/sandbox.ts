// How strongly hook code can be walled in on this machine: tried, not guessed.
import { access, constants, readFile } from 'node:fs/promises';
import { messageOf } from '../errors.ts';
import { findProcess, measure } from '../process-table.ts';
import type { Config, Sandbox, SandboxLevel } from '../protocol.ts';
import { reservedUsers } from '../reserved-users.ts';
import { readRunnerScore } from './priority.ts';
import { withCache } from './runner-cache.ts';
import { runnerCommand, type RunnerInstance, type RunnerPlan } from './runner-command.ts';
import { findRunnerFiles, type RunnerFiles, sharedLibraries, writeFilter } from './runner-files.ts';
import { smokeTest } from './smoke-test.ts';

/** The wall in effect, and how runners are started behind it; no plan at level `none`. */
export interface Walls {
  sandbox: Sandbox;
  plan: RunnerPlan | undefined;
  /** Why runners start without the compiled code that they could have, and so more slowly. */
  slow?: string | undefined;
}

/** The dependencies of the walls. `folder` is for files of the runners; `path` is where programs are looked for. */
export interface WallOptions {
  config: Config['hooks'];
  folder: string;
  uid: number;
  path: string;
  platform: string;
  arch: string;
}

const levelsToTry: Record<Config['hooks']['sandbox'], readonly SandboxLevel[]> = {
  auto: ['os', 'deno'],
  os: ['os'],
  deno: ['deno'],
};

/** Takes the strongest wall that is wanted and that a real start behind it shows to stand; never a weaker one. */
export async function raiseWalls(options: WallOptions): Promise<Walls> {
  const { config, platform } = options;
  const failures: string[] = [];
  for (const level of levelsToTry[config.sandbox]) {
    try {
      const plan = await makePlan(options, level);
      await probe(plan, config.memory_mb);
      return {
        sandbox: {
          level,
          shares: measure(process.pid) === undefined ? 'none' : 'supervisor',
          why: [...failures, ...weaknesses(plan)].join('; ') || levelDescriptions[level],
        },
        ...await withCompiledCode(plan, options),
      };
    } catch (error) {
      failures.push(`no ${level} level: ${messageOf(error)}`);
    }
  }
  const where = platform === 'linux' ? '' : ` on ${platform}`;
  return {
    sandbox: { level: 'none', shares: 'none', why: `hooks do not run${where}: ${failures.join('; ')}` },
    plan: undefined,
  };
}

const levelDescriptions: Record<SandboxLevel, string> = {
  os: 'Deno without permissions, limits, namespaces and a seccomp filter',
  deno: 'Deno without permissions, and limits',
};

function weaknesses({ platform, level, users }: RunnerPlan): string[] {
  if (platform !== 'linux') return [`memory is not limited on ${platform}`];
  return level === 'deno' && users === undefined ? ["without root, hooks run as the server's own user"] : [];
}

async function makePlan(options: WallOptions, level: SandboxLevel): Promise<RunnerPlan> {
  const { config, folder, uid, platform, arch } = options;
  const isForeign = uid === 0;
  const files: RunnerFiles = await findRunnerFiles({ folder, isForeign, platform, arch });
  const isOs = level === 'os';
  if (isOs && platform !== 'linux') throw new Error('namespaces are a feature of Linux');
  const tool = (name: string, provider: string) => findTool(name, provider, options.path);
  return {
    level,
    platform,
    users: isForeign && platform === 'linux' ? (await reservedUsers(folder)).runners : undefined,
    jit: config.jit,
    ...files,
    libraries: isOs ? await sharedLibraries(files.deno) : [],
    filter: isOs ? await writeFilter(folder, arch) : '',
    tools: {
      bwrap: isOs ? await tool('bwrap', 'bubblewrap') : '',
      setpriv: platform === 'linux' ? await tool('setpriv', 'util-linux') : '',
      nice: await tool('nice', 'coreutils').catch(() => ''),
    },
    oomScore: await readRunnerScore(),
  };
}

async function findTool(name: string, provider: string, path: string): Promise<string> {
  for (const directory of path.split(':')) {
    const file = `${directory}/${name}`;
    if (await access(file, constants.X_OK).then(() => true, () => false)) return file;
  }
  throw new Error(`${name} is not installed (package ${provider})`);
}

/** Starts a runner the way runners are started, and looks from outside at what holds it. Throws what is missing. */
async function probe(plan: RunnerPlan, memory: number): Promise<void> {
  const seat: RunnerInstance = { program: 'probe.js', slot: 0, memory };
  await smokeTest(runnerCommand(plan, seat), async (running) => {
    const pid = await findProcess(running.pid);
    const status = pid === undefined ? '' : await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    if (plan.platform === 'linux') inspect(plan, status);
  });
}

/** The plan with compiled code, if runners start with it as well: it makes them faster, and no wall depends on it. */
async function withCompiledCode(
  plan: RunnerPlan,
  { folder, config }: WallOptions,
): Promise<Required<Pick<Walls, 'plan' | 'slow'>>> {
  try {
    const quick = await withCache(plan, folder, config.memory_mb);
    if (quick.cache !== undefined) await probe(quick, config.memory_mb);
    return { plan: quick, slow: undefined };
  } catch (error) {
    // As on a file system that SQLite cannot work on.
    return { plan, slow: messageOf(error) };
  }
}

/** Compares the kernel's word on the process with what the plan promises. */
function inspect({ level, users }: RunnerPlan, status: string): void {
  const value = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
  const isOs = level === 'os';
  const promises: [string, boolean][] = [
    ['no new privileges', value('NoNewPrivs') === '1'],
    ['no capabilities', /^0+$/.test(value('CapEff'))],
    [
      'a user of its own',
      users === undefined || value('Uid').split('\t').every((id) => Number(id) === users.first),
    ],
    ['a seccomp filter', !isOs || value('Seccomp') === '2'],
    ['a process namespace', !isOs || value('NSpid').split('\t').length > 1],
  ];
  const missing = promises.filter(([, held]) => !held).map(([name]) => name);
  if (missing.length > 0) throw new Error(`a runner that was started does not have ${missing.join(', ')}`);
}
