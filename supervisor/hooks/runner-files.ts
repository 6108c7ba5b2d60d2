// The files that hook runners need, where their users can read them: Deno, its libraries, the runner's code, the filter.
import { access, chmod, constants, copyFile, link, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentName, makeOnce, removeOlder } from './made-once.ts';
import { findClosedDirectory } from '../closed-directory.ts';
import { runToEnd } from '../run-to-end.ts';
import { isFiltered, seccompProgram } from './seccomp.ts';

/** Absolute paths. */
export interface RunnerFiles {
  deno: string;
  code: string;
}

/** Where the code of the runner is: beside this folder, in the sources as in dist/. */
const sourceCode = fileURLToPath(new URL('../../hook-runner', import.meta.url));

/** A user that neither owns anything nor is in the group of anything. */
const anybody = { uid: -1, gid: -1 };

/** Where copies may go when the program's own files are closed to others; it is passable and only root can write there. */
const systemFolder = '/var/lib/bulkhead';

/** The sources are TypeScript; what is published, in dist/, is JavaScript already. */
const isSource = import.meta.url.endsWith('.ts');
const bundler = fileURLToPath(new URL('bundle-runner.ts', import.meta.url));

/**
 * Deno and the runner's code, as JavaScript. As they are where they can be; as copies under `folder` when the code is
 * TypeScript, or when runners are other users (`isForeign`) that may not pass or read. Throws an error with one line for
 * the operator when there is no such place.
 */
export async function findRunnerFiles(
  { folder, isForeign, platform, arch }: {
    folder: string;
    isForeign: boolean;
    platform: string;
    arch: string;
  },
): Promise<RunnerFiles> {
  const deno = await findDeno(platform, arch);
  const isDenoOpen = !isForeign || await isOpen([deno], 0o005);
  const scripts = (await readdir(sourceCode)).map((name) => join(sourceCode, name));
  if (!isSource && isDenoOpen && (!isForeign || await isOpen(scripts, 0o004))) {
    return { deno, code: sourceCode };
  }
  const place = await findOpenFolder(folder, isForeign);
  if (place === undefined) {
    throw new Error(
      `hook runners have users of their own, which cannot read ${deno} nor anything in ${folder}`,
    );
  }
  const home = await copy({ deno: isDenoOpen ? undefined : deno, scripts, place });
  if (place === folder) await removeOlder(home);
  return { deno: isDenoOpen ? deno : join(home, 'deno'), code: join(home, 'code') };
}

/** The first folder for files of runners that their users may pass: `folder`, or one of the system's. */
export async function findOpenFolder(folder: string, isForeign: boolean): Promise<string | undefined> {
  for (const place of [folder, join(systemFolder, 'runtime')]) {
    await makePassable(place);
    if (!isForeign || await findClosedDirectory(anybody, [join(place, 'files')]) === undefined) return place;
  }
  return undefined;
}

/** Makes a folder, and those above it, so that others may pass, whatever the umask; what is there stays as it is. */
export async function makePassable(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o711 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await chmod(made, 0o711);
}

/** Writes the seccomp filter and returns its path. Throws where there is no list of calls for this processor. */
export async function writeFilter(folder: string, arch: string): Promise<string> {
  if (!isFiltered(arch)) throw new Error(`there is no seccomp filter for ${arch}`);
  const path = join(folder, 'seccomp');
  await makePassable(folder);
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

/** The executable that npm installed; `deno` itself is a script around it. Throws where there is none. */
export async function findDeno(platform: string, arch: string): Promise<string> {
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

async function isOpen(files: readonly string[], bits: number): Promise<boolean> {
  if (await findClosedDirectory(anybody, files) !== undefined) return false;
  const modes = await Promise.all(files.map(async (path) => (await stat(path)).mode));
  return modes.every((mode) => (mode & bits) === bits);
}

interface Wanted {
  /** Undefined when its executable can stay where it is. */
  deno: string | undefined;
  scripts: readonly string[];
  place: string;
}

async function copy({ deno, scripts, place }: Wanted): Promise<string> {
  const origins = [...deno === undefined ? [] : [deno], ...isSource ? [bundler] : [], ...scripts];
  const home = join(place, await contentName(origins));
  await makeOnce(home, async (draft) => {
    await mkdir(join(draft, 'code'), { recursive: true });
    if (deno !== undefined) await linkOrCopy(deno, join(draft, 'deno'));
    await copyCode(sourceCode, join(draft, 'code'));
    for (const open of [draft, join(draft, 'code')]) await chmod(open, 0o755);
  });
  return home;
}

async function copyCode(from: string, to: string): Promise<void> {
  if (isSource) return await bundle(from, to);
  for (const name of await readdir(from)) {
    await copyFile(join(from, name), join(to, name));
    await chmod(join(to, name), 0o644);
  }
}

/** The bundler takes a second or two, and for ever where the system lets it start no threads. Milliseconds. */
const bundleTimeoutMs = 60_000;

async function bundle(from: string, to: string): Promise<void> {
  // A process of its own: the bundler would stay in this one's memory.
  const command = {
    file: process.execPath,
    args: [bundler, from, to],
    env: {},
    orphanSignal: 'KILL',
  } as const;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), bundleTimeoutMs);
  const { code, lines } = await runToEnd(command, late.signal).finally(() => clearTimeout(timer));
  if (code === 0) return;
  // Node says more before that line, and after it.
  const why = lines.find((line) => /^\w*Error\b/.test(line)) ?? code;
  throw new Error(
    `the runner's code could not be prepared: ${
      late.signal.aborted ? `it takes longer than ${bundleTimeoutMs / 1000} s` : why
    }`,
  );
}

/** A second name costs nothing, where it is of the same file system and the file itself is open. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  const { mode } = await stat(from);
  if ((mode & 0o005) === 0o005 && await link(from, to).then(() => true, () => false)) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o755);
}
