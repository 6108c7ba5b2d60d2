// An app's hook files on disk, `<hooks.dir>/<workspace>/<app>/<file>`: links are never followed, writes are whole or not at all.
import { randomUUID } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, unlessMissing } from '../../../storage/sql/error-code.ts';
import { syncFolder } from '../../../storage/blobs/sync-folder.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import { filenameFault } from './filename.ts';

/** Most files of an app that are read. */
export const maxFiles = 64;
/** Largest file in bytes. */
export const maxFileBytes = 1_048_576;
/** Most bytes of all files of an app together. */
export const maxFolderBytes = 4_194_304;

/** A file as lists show it. */
export interface HookFile {
  filename: string;
  /** In bytes. */
  size: number;
  updated_at: Date;
}

/** A file with its text, or with what is wrong with it; `isLink` is a link in the place of a file. */
export type HookFileContent = HookFile & ({ source: string } | { fault: string; isLink?: true });

/** Whose files. */
export interface FolderOwner {
  id: string;
  workspace: { id: string };
}

/** Where an app's files are. */
export function hookFolder({ hooks }: Pick<Config, 'hooks'>, { id, workspace }: FolderOwner): string {
  return join(hooks.dir, workspace.id, id);
}

/** The files that count, by name: regular ones with a legal name. */
export async function listFolder(folder: string): Promise<HookFile[]> {
  const names = (await readEntries(folder)).filter((entry) => entry.isFile()).map(({ name }) => name);
  const found = await Promise.all(names.map((name) => statFile(folder, name)));
  return found.filter((file) => file !== undefined);
}

/** The links in the place of files, each with a fault: who made one would wait for its code to run. */
async function listLinks(folder: string): Promise<HookFileContent[]> {
  const links = (await readEntries(folder)).filter((entry) => entry.isSymbolicLink());
  const unread = { size: 0, updated_at: new Date(0), fault: 'is a symbolic link, which is not followed' };
  return links.slice(0, maxFiles).map(({ name }) => ({ filename: name, ...unread, isLink: true }));
}

/** What has a legal name, in the order of names. */
async function readEntries(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(emptyWhenMissing);
  return entries.filter(({ name }) => filenameFault(name) === undefined)
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** One file, or undefined; a link is no file. */
export async function readFile(folder: string, filename: string): Promise<HookFileContent | undefined> {
  try {
    // A pipe would be waited for.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(join(folder, filename), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    const file = { filename, size: stat.size, updated_at: stat.mtime };
    if (stat.size > maxFileBytes) return { ...file, fault: `is larger than ${maxFileBytes} bytes` };
    const bytes = await readAtMost(handle, { size: stat.size, most: maxFileBytes + 1 });
    if (bytes.length > maxFileBytes) return { ...file, fault: `is larger than ${maxFileBytes} bytes` };
    return decodeFile({ ...file, size: bytes.length }, bytes);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** All files with their texts, by name; a link, or what is beyond the limits, has a fault in place of a text. */
export async function readFolder(folder: string): Promise<HookFileContent[]> {
  const read: HookFileContent[] = [];
  let total = 0;
  for (const [index, file] of (await listFolder(folder)).entries()) {
    if (index >= maxFiles) {
      read.push({ ...file, fault: `is more than the ${maxFiles} files that an app may have` });
      continue;
    }
    const found = await readFile(folder, file.filename);
    if (found === undefined) continue;
    total += found.size;
    read.push(
      total > maxFolderBytes
        ? { ...file, fault: `is beyond the ${maxFolderBytes} bytes that an app's files may have together` }
        : found,
    );
  }
  return [...read, ...await listLinks(folder)];
}

/** Puts a file in the place of whatever has its name, a link included; false when that is a directory. */
export async function writeFile(folder: string, filename: string, source: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Begins with a dot, so that nobody takes it for a hook file.
  const temporary = join(folder, `.${randomUUID()}.tmp`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await handle.writeFile(source);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, join(folder, filename));
    // The folder may be on its way out with its app: whoever wrote looks for that next.
    await unlessMissing(syncFolder(folder));
    return true;
  } catch (error) {
    await rm(temporary, { force: true });
    if (errorCode(error) === 'EISDIR') return false;
    throw error;
  }
}

/** Removes a file; false when there is none. A link is no file, and stays. */
export async function removeFromFolder(folder: string, filename: string): Promise<boolean> {
  if (await statFile(folder, filename) === undefined) return false;
  try {
    await unlink(join(folder, filename));
    await unlessMissing(syncFolder(folder));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Removes a workspace's folder when nothing is in it. */
export async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!isMissing(error) && errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  });
}

async function statFile(folder: string, filename: string): Promise<HookFile | undefined> {
  try {
    const stat = await lstat(join(folder, filename));
    return stat.isFile() ? { filename, size: stat.size, updated_at: stat.mtime } : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The part of a readable file that is loaded. */
export function toSourceFile(file: HookFileContent): { file: string; source: string }[] {
  return 'source' in file ? [{ file: file.filename, source: file.source }] : [];
}

/** It can grow while it is read. */
async function readAtMost(
  handle: FileHandle,
  { size, most }: { size: number; most: number },
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  // One byte more than it has, so that one read is enough for a file that stays as it is.
  const options = { autoClose: false, end: most - 1, highWaterMark: size + 1 };
  for await (const piece of handle.createReadStream(options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function decodeFile(file: HookFile, bytes: Buffer): HookFileContent {
  try {
    return { ...file, source: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ...file, fault: 'is not UTF-8' };
  }
}

function emptyWhenMissing(error: unknown): [] {
  if (isMissing(error)) return [];
  throw error;
}

/** Not there, or a link, or below something that is no directory. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ELOOP', 'ENOTDIR', 'EMLINK', 'ENXIO'].includes(errorCode(error));
}
