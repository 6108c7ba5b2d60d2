// Data directories of servers that are set up, kept in the user's cache: a throw-away server begins with a copy of one.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { environment, searchPath } from '../config.ts';
import { systemErrorCode } from '../errors.ts';
import { memberOf } from '../remote/members.ts';
import { findPostgresBinaries } from '../postgres/binaries.ts';
import { runToEnd } from '../run-to-end.ts';

/** Who may do what on a server that was set up for throwing away. */
export interface ServerAccess {
  /** The password of the master admin. */
  password: string;
  /** An API key with all scopes of the server. */
  token: string;
}

/** A stored data directory. */
export interface StoredServer {
  access: ServerAccess;
  /** Copies it to where no folder is yet. */
  copyTo: (dataDir: string) => Promise<void>;
}

const accessFile = 'access.json';
/** Those of other versions are removed when they were not used for so long. */
const unusedMs = 14 * 24 * 60 * 60 * 1_000;

/** The stored data directory of this version of the program and of PostgreSQL; undefined where there is none. */
export async function findStored(): Promise<StoredServer | undefined> {
  const folder = join(cacheFolder(), await fingerprint());
  const text = await readFile(join(folder, accessFile), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  const now = new Date();
  await utimes(folder, now, now);
  return {
    access: { password: String(memberOf(value, 'password')), token: String(memberOf(value, 'token')) },
    copyTo: (dataDir) => copyFolder(join(folder, 'data'), dataDir),
  };
}

/**
 * Stores what `fill` makes of a new data directory. Another process may do the same meanwhile: then one of the two stays.
 * Does nothing where the cache cannot be written to.
 */
export async function store(fill: (dataDir: string) => Promise<ServerAccess>): Promise<void> {
  const cache = cacheFolder();
  let making: string | undefined;
  try {
    await mkdir(cache, { recursive: true, mode: 0o700 });
    making = await mkdtemp(join(cache, 'new-'));
    const access = await fill(join(making, 'data'));
    await writeFile(join(making, accessFile), JSON.stringify(access), { mode: 0o600 });
    await rename(making, join(cache, await fingerprint()));
    await removeUnused(cache);
  } catch (error) {
    const isExpected = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY'];
    if (!isExpected.includes(systemErrorCode(error))) throw error;
  } finally {
    if (making !== undefined) await rm(making, { recursive: true, force: true });
  }
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME = '' } = environment();
  return join(XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME, 'bulkhead', 'ephemeral');
}

/** Another migration, another PostgreSQL or another user needs another data directory. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const { home } = findPostgresBinaries(process.platform, process.arch);
  hash.update(await readFile(join(home, 'package.json')));
  const migrations = new URL('../../migrations/', import.meta.url);
  const names = await readdir(migrations, { recursive: true });
  for (const name of names.filter((each) => each.endsWith('.sql')).sort()) {
    hash.update(`\0${name}\0`).update(await readFile(new URL(name, migrations)));
  }
  return `${process.getuid?.() ?? 0}-${hash.digest('hex').slice(0, 32)}`;
}

/** By the system's own program, which is several times as quick as Node with thousands of files. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const args = process.platform === 'darwin' ? ['-Rpc'] : ['-a', '--reflink=auto'];
  const copy = { file: 'cp', args: [...args, from, to], env: { PATH: searchPath() } };
  const { code, lines } = await runToEnd({ ...copy, orphanSignal: 'KILL' });
  if (code !== 0) throw new Error(`${from} cannot be copied to ${to}: ${lines.at(-1) ?? code}`);
}

async function removeUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const isUnused = existsSync(path) && Date.now() - (await stat(path)).mtimeMs > unusedMs;
    if (isUnused) await rm(path, { recursive: true, force: true });
  }
}
