// The files that hook runners need, where their users can read them: Deno, its libraries, the runner's code, the filter.
import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  copyFile,
  link,
  mkdir,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closedDirectory } from './postgres-user.ts';
import { runToEnd } from './run-to-end.ts';
import { isFiltered, seccompProgram } from './seccomp.ts';

/** Absolute paths. */
export interface RunnerFiles {
  deno: string;
  code: string;
}

/** Where the code of the runner is: beside this folder, in the sources as in dist/. */
const sourceCode = fileURLToPath(new URL('../hook-runner', import.meta.url));

/** Whoever is neither the owner nor of the group of anything. */
const anybody = { uid: -1, gid: -1 };

/** Where copies may go when the program's own files are closed to others; it is passable and only root can write there. */
const systemFolder = '/var/lib/bulkhead';

/**
 * Deno and the runner's code: as they are or, for runners of other users (`foreign`) where those may not pass or read,
 * as copies under `folder`. Throws an error with one line for the operator when there is no such place.
 */
export async function findRunnerFiles(
  { folder, foreign, platform, arch }: { folder: string; foreign: boolean; platform: string; arch: string },
): Promise<RunnerFiles> {
  const found = { deno: await findDeno(platform, arch), code: sourceCode };
  if (!foreign || await isOpen(found)) return found;
  for (const place of [folder, join(systemFolder, 'runtime')]) {
    await mkdir(place, { recursive: true, mode: 0o711 });
    if (await closedDirectory(anybody, [join(place, 'files')]) === undefined) return await copy(found, place);
  }
  const closed = await closedDirectory(anybody, [found.deno, sourceCode]);
  throw new Error(`hook runners have users of their own, which cannot read ${closed ?? found.deno}`);
}

/** Writes the seccomp filter and answers its path. Throws where there is no list of calls for this processor. */
export async function writeFilter(folder: string, arch: string): Promise<string> {
  if (!isFiltered(arch)) throw new Error(`there is no seccomp filter for ${arch}`);
  const path = join(folder, 'seccomp');
  await mkdir(folder, { recursive: true, mode: 0o711 });
  await writeFile(path, seccompProgram(arch), { mode: 0o600 });
  return path;
}

/** The shared libraries of an executable, asked of the system's own loader. */
export async function sharedLibraries(executable: string): Promise<string[]> {
  // https://man7.org/linux/man-pages/man8/ld.so.8.html
  const environment = { LD_TRACE_LOADED_OBJECTS: '1' };
  const { lines } = await runToEnd({ file: executable, args: [], env: environment, orphanSignal: 'none' });
  const paths = lines.map((line) => /(\/\S+) \(0x[0-9a-f]+\)$/.exec(line)?.[1]);
  return paths.filter((path) => path !== undefined);
}

/** The executable that npm installed; `deno` itself is a script around it. */
async function findDeno(platform: string, arch: string): Promise<string> {
  const name = `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
  const own = fileURLToPath(import.meta.resolve('deno/package.json'));
  for (const find of [() => own, () => createRequire(own).resolve(`${name}/package.json`)]) {
    try {
      const path = join(find(), '..', 'deno');
      await access(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  throw new Error(`there is no Deno for ${platform}-${arch} (${name}): run npm install`);
}

async function isOpen({ deno, code }: RunnerFiles): Promise<boolean> {
  const files = (await readdir(code)).map((name) => join(code, name));
  if (await closedDirectory(anybody, [deno, join(code, 'files')]) !== undefined) return false;
  const modes = await Promise.all([deno, ...files].map(async (path) => (await stat(path)).mode));
  return modes.every((mode, index) =>
    (mode & (index === 0 ? 0o005 : 0o004)) === (index === 0 ? 0o005 : 0o004)
  );
}

/** Copies are named for what they are copies of, so that a new release has new ones and a half-made copy none. */
async function copy(files: RunnerFiles, place: string): Promise<RunnerFiles> {
  const names = await readdir(files.code);
  const from = [files.deno, ...names.map((name) => join(files.code, name))];
  const hash = createHash('sha256');
  for (const path of from) {
    const { size, mtimeMs } = await stat(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  const home = join(place, hash.digest('hex').slice(0, 16));
  const made = { deno: join(home, 'deno'), code: join(home, 'code') };
  if (await stat(home).then(() => true, () => false)) return made;
  const draft = `${home}.${process.pid}`;
  await mkdir(join(draft, 'code'), { recursive: true });
  await linkOrCopy(files.deno, join(draft, 'deno'));
  for (const name of names) {
    await copyFile(join(files.code, name), join(draft, 'code', name));
    await chmod(join(draft, 'code', name), 0o644);
  }
  for (const open of [draft, join(draft, 'code')]) await chmod(open, 0o755);
  await rename(draft, home).catch(async (error) => {
    await rm(draft, { recursive: true });
    if (!await stat(home).then(() => true, () => false)) throw error;
  });
  return made;
}

/** A second name costs nothing, where it is of the same file system and the file itself is open. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  const { mode } = await stat(from);
  if ((mode & 0o005) === 0o005 && await link(from, to).then(() => true, () => false)) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o755);
}
