// Opens the data directory: creates it, sets its permissions, and locks it for one server.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from './errors.ts';
import { StartRefused } from './start-refused.ts';

/** The error for a data directory that another server uses. */
export class DataDirInUse extends StartRefused {}

/** A data directory that this process has locked until it exits. */
export interface DataDir {
  /** Without symbolic links. */
  path: string;
  /** The uid of the directory's owner. */
  owner: number;
  release: () => void;
}

/**
 * Creates the directory if it is missing, closes it to other users and locks it. Throws `StartRefused` when it cannot be
 * used or another server uses it. For root, its mode is 0711, as PostgreSQL runs as another user that must pass through it.
 */
export async function openDataDir(wanted: string, uid: number): Promise<DataDir> {
  const isNew = !existsSync(wanted);
  const path = await makeDirectory('data_dir', wanted, uid === 0 ? 0o711 : 0o700);
  // Beside the code of an app, nobody means to commit databases and keys.
  if (isNew) writeFileSync(join(path, '.gitignore'), '*\n');
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

/** Creates the directory of a setting if it is missing, and returns its path without symbolic links. Throws `StartRefused`. */
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

/** Creates a folder and those above it. Node's recursive mkdir never returns below `/proc`, where none can be created. */
async function makeFolder(path: string, mode: number): Promise<void> {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) await makeFolder(parent, mode);
  await mkdir(path, { mode });
}

/**
 * Locks the directory with SQLite's file lock, as Node has no flock. The kernel releases the lock when the process exits,
 * even when it is killed, so there are no stale locks and no reused process ids.
 */
function lock(path: string): () => void {
  const pidFile = join(path, 'bulkhead.pid');
  try {
    const file = join(path, 'lock');
    // A user who can read the file can lock it, and so prevent every start.
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

/** True while a server has locked the directory. Takes no lock, and makes nothing. */
export function isDataDirInUse(path: string): boolean {
  const file = join(path, 'lock');
  if (!existsSync(file)) return false;
  try {
    const database = new DatabaseSync(file, { timeout: 0, readOnly: true });
    try {
      database.exec('PRAGMA schema_version');
    } finally {
      database.close();
    }
    return false;
  } catch (error) {
    return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
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
