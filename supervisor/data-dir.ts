// The data directory: its permissions, and the lock that lets only one server use it.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from './errors.ts';
import { StartRefused } from './start-refused.ts';

/** Another server uses the data directory. */
export class DataDirInUse extends StartRefused {}

/** A data directory that belongs to this process until it ends. */
export interface DataDir {
  /** Without symbolic links. */
  path: string;
  /** The user whose it is, as the system numbers them. */
  owner: number;
  release: () => void;
}

/**
 * Makes the directory if need be, closes it to others and locks it. Throws `StartRefused` when it cannot be used or
 * another server uses it. As root it stays passable (0711) for the user that PostgreSQL runs as.
 */
export async function openDataDir(wanted: string, uid: number): Promise<DataDir> {
  const path = await makeDirectory('data_dir', wanted, uid === 0 ? 0o711 : 0o700);
  const found = await stat(path);
  if (found.uid !== uid && uid !== 0) {
    throw new StartRefused(
      `data_dir ${path} belongs to another user (uid ${found.uid}): start as root or as that user`,
    );
  }
  const mode = (found.mode & 0o700) | (uid === 0 ? 0o011 : 0);
  if ((found.mode & 0o777) !== mode) await chmod(path, mode);
  return { path, owner: found.uid, release: lock(path) };
}

/** Makes the directory that a setting names, if need be; answers its path without symbolic links. Throws `StartRefused`. */
export async function makeDirectory(key: string, wanted: string, mode: number): Promise<string> {
  try {
    await makeFolder(resolve(wanted), mode);
    const path = await realpath(wanted);
    if (!(await stat(path)).isDirectory()) throw new Error('it is there, and is no directory');
    return path;
  } catch (error) {
    throw new StartRefused(
      `${key} ${wanted} cannot be made: ${messageOf(error)}`,
    );
  }
}

/** Node's own recursive mkdir never ends below a folder like /proc, which exists and can hold no new ones. */
async function makeFolder(path: string, mode: number): Promise<void> {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) await makeFolder(parent, mode);
  await mkdir(path, { mode });
}

/**
 * Node has no flock, but its SQLite holds a lock of the kernel's on a file: two starts cannot both get it, and it ends
 * with the process, even one that was killed, so there is no stale lock and no process number to be mistaken.
 */
function lock(path: string): () => void {
  const pidFile = join(path, 'bulkhead.pid');
  try {
    const file = join(path, 'lock');
    // Whoever can read it can lock it, and keep every start from it.
    writeFileSync(file, '', { flag: 'a', mode: 0o600 });
    chmodSync(file, 0o600);
    const database = new DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o644 });
    return () => database.close();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('errcode' in error && error.errcode === sqliteBusy) {
      throw new DataDirInUse(`data_dir ${path} is in use by another bulkhead (pid ${readPid(pidFile)})`);
    }
    throw new StartRefused(`data_dir ${path} cannot be locked: ${error.message}`);
  }
}

/** https://www.sqlite.org/rescode.html#busy */
const sqliteBusy = 5;

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
