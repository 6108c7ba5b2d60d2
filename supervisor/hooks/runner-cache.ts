// The compiled code of runners: what V8 made of Deno's own JavaScript and of the runner's, so that a start need not make
// it again, which is a quarter of it. Filled once by our own programs, then read-only for everybody.
import { chmod, chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contentName, makeOnce, removeOlder } from './made-once.ts';
import { fillingCommand, type RunnerInstance, type RunnerPlan } from './runner-command.ts';
import { findOpenFolder, makePassable } from './runner-files.ts';
import { endGracefully, smokeTest } from './smoke-test.ts';

/**
 * The files of Deno's folder (SQLite) that make a start faster: what V8 compiled, and what the programs
 * import. Each takes three of a runner's few descriptors.
 */
const databases = ['v8_code_cache_v2', 'dep_analysis_cache_v2'];

/** The runner, and what touches all that hook files may come to need of Deno. */
const programs = ['main.js', 'probe.js'];

/** The same plan with a folder of compiled code in it, which is filled if it is not there yet. */
export async function withCache(plan: RunnerPlan, folder: string, memory: number): Promise<RunnerPlan> {
  // A folder that runners could write to would be storage, and code in other apps. A mount or another owner prevents it.
  const isSafe = plan.platform === 'linux' && (plan.level === 'os' || plan.users !== undefined);
  const place = isSafe ? await findOpenFolder(folder, plan.users !== undefined) : undefined;
  if (place === undefined) return plan;
  const prefix = `cache-${plan.level}${plan.jit ? '-jit' : ''}-`;
  // All that decides what V8 would make, and where it would look for it.
  const files = [plan.deno, ...programs.map((name) => join(plan.code, name))];
  // Whose users fill it, and where their filter lies, changes nothing: servers that share a place share what is there.
  const { users, ...same } = { ...plan, filter: '' };
  const anybody = users === undefined ? undefined : { first: 0, count: 1 };
  const how = JSON.stringify(fillingCommand({ ...same, users: anybody }, firstInstance('main.js', memory)));
  const home = join(place, `${prefix}${await contentName(files, how)}`);
  await makeOnce(home, async (draft) => {
    await fill({ ...plan, cache: join(draft, 'filling') }, memory);
    await seal(draft);
  });
  if (place === folder) await removeOlder(home, prefix);
  return { ...plan, cache: home };
}

function firstInstance(program: string, memory: number): RunnerInstance {
  return { program, slot: 0, memory };
}

async function fill(plan: RunnerPlan & { cache: string }, memory: number): Promise<void> {
  await makePassable(plan.cache);
  const { users } = plan;
  if (users !== undefined) await chown(plan.cache, users.first, users.first);
  for (const program of programs) {
    await smokeTest(fillingCommand(plan, firstInstance(program, memory)), endGracefully);
  }
}

/**
 * Copies what was filled into files that nobody can write to. SQLite reads a database in WAL mode without a word to the
 * disk if the two files beside it are there: https://www.sqlite.org/wal.html#readonly
 */
async function seal(draft: string): Promise<void> {
  const { backup, DatabaseSync } = await import('node:sqlite');
  for (const name of databases) {
    const filled = new DatabaseSync(join(draft, 'filling', name));
    await backup(filled, join(draft, name));
    filled.close();
    for (const beside of ['-wal', '-shm']) await writeFile(join(draft, `${name}${beside}`), '');
    for (const end of ['', '-wal', '-shm']) await chmod(join(draft, `${name}${end}`), 0o444);
  }
  // Where Deno would make the folder of `localStorage`: below a file nothing can be made, whoever tries.
  await writeFile(join(draft, 'location_data'), '', { mode: 0o444 });
  await rm(join(draft, 'filling'), { recursive: true });
  await chmod(draft, 0o755);
}
