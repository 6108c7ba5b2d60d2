// The supervisor's side of hooks, put together: walls, runners, and the watch over the files.
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { giveTo } from '../ownership.ts';
import type { Account } from '../postgres/user.ts';
import type { Output } from '../output.ts';
import type { Config, Sandbox } from '../protocol.ts';
import { RunnerProcesses } from './runners.ts';
import type { KernelShares } from './shares/control-groups.ts';
import { HookShares } from './shares/shares.ts';
import { raiseWalls, type Walls } from './sandbox.ts';
import { type HookChange, watchHooks } from './watch.ts';

/** The dependencies of hooks. */
export interface HookProcessesOptions {
  config: Config;
  uid: number;
  /** The user of the API, to whom root's hook files are given. */
  api: Account | undefined;
  /** Control groups for workspaces, or why there are none. */
  kernel: KernelShares;
  /** Where programs are looked for. */
  path: string;
  say: Output['log'];
}

/** Hooks as far as the supervisor has to do with them. */
export interface HookProcesses {
  /** Resolves once the walls were tried. */
  sandbox: Promise<Sandbox>;
  runners: RunnerProcesses;
  /** Begins to tell of changed files. */
  watch: (onChange: (change: HookChange) => void) => Promise<void>;
  /** Ends the watch and every runner. */
  stop: () => Promise<void>;
}

/** Tries the walls at once; runners wait for the outcome. */
export function createHookProcesses(
  { config, uid, api, kernel, path, say }: HookProcessesOptions,
): HookProcesses {
  const folder = join(config.data_dir, 'runtime');
  const walls = raiseWalls({
    config: config.hooks,
    folder,
    uid,
    path,
    platform: process.platform,
    arch: process.arch,
  });
  const sandbox = walls.then((raised) => report(say, raised, kernel));
  const shares = new HookShares({
    now: () => performance.now(),
    totalMemoryMb: config.hooks.total_memory_mb,
    groups: kernel.groups,
    say,
  });
  const runners = new RunnerProcesses({
    config: config.hooks,
    dataDir: config.data_dir,
    walls,
    now: () => performance.now(),
    program: 'main.js',
    shares,
    onBreakerOpen: ({ workspace, app }) =>
      say('warn', 'hooks of an app keep crashing, and rest for a while', { workspace, app }),
    onUnchecked: ({ workspace, app, error }) =>
      say('warn', 'the types of hook files could not be checked', { workspace, app, error }),
  });
  let watching: Promise<() => Promise<void>> | undefined;
  return {
    sandbox,
    runners,
    watch: async (onChange) => {
      watching = watchFiles({ config, api, say }, (change) => {
        runners.clearCrashes(change);
        onChange(change);
      });
      await watching.catch(() => 'logged');
    },
    stop: async () => {
      const end = await watching?.catch(() => undefined);
      await Promise.all([end?.(), runners.stop()]);
    },
  };
}

/** Watches the hook files, and gives those of root to the API's user. Logs what fails. */
async function watchFiles(
  { config, api, say }: Pick<HookProcessesOptions, 'config' | 'api' | 'say'>,
  onChange: (change: HookChange) => void,
): Promise<() => Promise<void>> {
  const onError = (error: unknown) =>
    say('warn', 'changes of hook files may go unnoticed', { error: String(error) });
  try {
    const directory = await realpath(config.hooks.dir);
    const tell = async (change: HookChange) => {
      if (api !== undefined) await giveTo(api, directory, [change.workspace, change.app]).catch(onError);
      onChange(change);
    };
    return await watchHooks({ directory, onChange: (change) => void tell(change), onError });
  } catch (error) {
    onError(error);
    throw error;
  }
}

/** Logs what is in force, and returns it. */
function report(say: Output['log'], { sandbox, plan, slow }: Walls, kernel: KernelShares): Sandbox {
  const { level, why } = sandbox;
  const shares = kernel.groups === undefined || plan === undefined ? sandbox.shares : 'kernel';
  if (level === 'none') say('warn', `hooks are off: ${why}`, { sandbox: level });
  else {
    say('info', `hooks run at sandbox level ${level}: ${why}`, { sandbox: level });
    const instead = kernel.groups === undefined ? `, not the kernel: ${kernel.why}` : '';
    const keeper = shares === 'none' ? 'nobody' : `the ${shares}`;
    say('info', `hooks of a workspace are kept to their share by ${keeper}${instead}`, {
      hook_shares: shares,
    });
  }
  if (slow !== undefined) {
    say('warn', 'hook processes start more slowly, as their compiled code cannot be kept', { error: slow });
  }
  return { ...sandbox, shares };
}
