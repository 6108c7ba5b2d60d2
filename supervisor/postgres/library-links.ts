// The links among the libraries of the embedded PostgreSQL. npm's packages cannot have links, so this one makes them by an
// install script, which package managers do not run unless their user allows it.
import { lstat, mkdir, readFile, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemErrorCode } from '../errors.ts';

/** A link to make, and what it leads to; both below the package's folder. */
interface LibraryLink {
  source: string;
  target: string;
}

/** The variable that the loader of the platform looks into: ld.so(8), and dyld(1) of macOS. */
const loaderVariables: Record<string, string> = {
  linux: 'LD_LIBRARY_PATH',
  darwin: 'DYLD_FALLBACK_LIBRARY_PATH',
};

/**
 * Makes the links that are missing in the package's folder; or in the folder `aside`, where the package may not be changed.
 * Returns the environment in which PostgreSQL's programs find them.
 */
export async function linkLibraries(
  home: string,
  { aside, platform }: { aside: string; platform: string },
): Promise<Record<string, string>> {
  const missing: LibraryLink[] = [];
  for (const link of await readLinks(join(home, 'native', 'pg-symlinks.json'))) {
    if (!await isThere(join(home, link.target))) missing.push(link);
  }
  try {
    for (const { source, target } of missing) await makeLink(basename(source), join(home, target));
    return {};
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(systemErrorCode(error))) throw error;
  }
  await mkdir(aside, { recursive: true, mode: 0o755 });
  for (const { source, target } of missing) {
    await makeLink(join(home, source), join(aside, basename(target)));
  }
  // A library that is found by its link looks for those that it needs beside the link.
  return { [loaderVariables[platform] ?? 'LD_LIBRARY_PATH']: `${aside}:${join(home, 'native', 'lib')}` };
}

/** What a version without links lacks is no error. */
async function readLinks(file: string): Promise<LibraryLink[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    return '[]';
  });
  const links: readonly Partial<LibraryLink>[] = JSON.parse(text);
  return links.map(({ source, target }) => ({ source: String(source), target: String(target) }));
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false);
}

/** Another server that starts at the same time makes the same ones. */
async function makeLink(to: string, path: string): Promise<void> {
  await symlink(to, path).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  });
}
