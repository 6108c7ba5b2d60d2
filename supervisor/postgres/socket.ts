// Where the embedded PostgreSQL's Unix socket lives.
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findClosedDirectory } from '../closed-directory.ts';
import { messageOf } from '../errors.ts';
import type { Account } from './user.ts';
import { StartRefused } from '../start-refused.ts';

/** Name of the socket in its directory, and the port number it carries. */
export const socketPort = 5432;
const socketName = `.s.PGSQL.${socketPort}`;

/** Bytes that a socket's path may have everywhere: macOS allows 103, Linux 107. */
const maxPathBytes = 100;

/** A directory for the socket. */
export interface SocketDirectory {
  path: string;
  /** Removes it, if it lies outside the data directory. */
  remove: () => Promise<void>;
}

/**
 * Makes the directory: inside the data directory, or, when that path is too long for a socket or has a comma, which ends a
 * path in PostgreSQL's list of them, a private one of the system's temporary directory. Only the account that PostgreSQL
 * runs as, the client's group and root may enter it. Throws `StartRefused` when there is no place for it.
 */
export async function makeSocketDirectory(
  dataDir: string,
  account: Account | undefined,
  client?: Account | undefined,
): Promise<SocketDirectory> {
  const inside = join(dataDir, 'run');
  const note = join(dataDir, 'run-elsewhere');
  await removeNoted(note);
  if (isFit(inside)) {
    await mkdir(inside, { recursive: true });
    await own(inside, account, client);
    return { path: inside, remove: () => Promise.resolve() };
  }
  const outside = await makeOutside(dataDir, account, client);
  await writeFile(note, outside);
  return { path: outside, remove: () => removeNoted(note) };
}

function isFit(directory: string): boolean {
  return Buffer.byteLength(join(directory, socketName)) <= maxPathBytes && !directory.includes(',');
}

/** The temporary directory of the environment may be missing or unfit; `/tmp` mostly is fit. */
async function makeOutside(
  dataDir: string,
  account: Account | undefined,
  client: Account | undefined,
): Promise<string> {
  const problems: string[] = [];
  for (const base of [tmpdir(), '/tmp']) {
    try {
      const place = await realpath(base);
      if (!isFit(join(place, 'bulkhead-XXXXXX'))) throw new Error(`${place} is too long or has a comma`);
      const closed = account && await findClosedDirectory(account, [join(place, 'bulkhead-XXXXXX')]);
      if (closed !== undefined) throw new Error(`the user of PostgreSQL may not pass ${closed}`);
      const outside = await mkdtemp(join(place, 'bulkhead-'));
      await own(outside, account, client);
      return outside;
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  throw new StartRefused(
    `the path of data_dir ${dataDir} is too long for a socket or has a comma, and there is no other place for it: ${
      problems.join('; ')
    }`,
  );
}

/** Where the socket of a server that runs is. */
export async function findSocketDirectory(dataDir: string): Promise<string> {
  const elsewhere = await readFile(join(dataDir, 'run-elsewhere'), 'utf8').catch(() => '');
  return elsewhere === '' ? join(dataDir, 'run') : elsewhere;
}

async function own(
  directory: string,
  account: Account | undefined,
  client: Account | undefined,
): Promise<void> {
  if (account !== undefined) await chown(directory, account.uid, client?.gid ?? account.gid);
  await chmod(directory, client === undefined ? 0o700 : 0o710);
}

/** Removes what the note names, which a killed supervisor had no time for; nothing but a socket's own directory. */
async function removeNoted(note: string): Promise<void> {
  const directory = await readFile(note, 'utf8').catch(() => '');
  if (directory === '') return;
  const found = await lstat(directory).catch(() => undefined);
  if (found?.isDirectory()) {
    await rm(join(directory, socketName), { force: true });
    await rm(join(directory, `${socketName}.lock`), { force: true });
    // Not empty: then it is not ours, and stays.
    await rmdir(directory).catch(() => 'left');
  }
  await rm(note, { force: true });
}
