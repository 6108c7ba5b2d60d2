// The static file that a path of an app's origin names, in the folder of the app's pages. Links are never followed: whoever may
// write in the folder could name files of the whole machine by one.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../storage/sql/error-code.ts';

/** The page of a folder. */
const indexName = 'index.html';
const maxSegments = 32;

/** A file that is open. Whoever gets it closes it. */
export interface PublicFile {
  /** Its name with the folders that it is in, such as `assets/app.js`. */
  name: string;
  handle: FileHandle;
  /** In bytes. */
  size: number;
  updatedAt: Date;
}

/** The result of a search. `folder` is a folder with a page of its own, asked for without the slash at its end. */
export type PublicPath = PublicFile | 'folder' | undefined;

/**
 * Finds a file by the path of a request, still percent-encoded, without the slash at its beginning. A path that ends in a
 * slash names the `index.html` of the folder. Names that begin with a dot are never found.
 */
export async function findPublic(root: string, path: string): Promise<PublicPath> {
  const names = readNames(path);
  if (names === undefined) return undefined;
  const file = await openRegular(root, names);
  if (file !== undefined || path.endsWith('/') || path === '') return file;
  const index = await openRegular(root, [...names, indexName]);
  await index?.handle.close();
  return index === undefined ? undefined : 'folder';
}

/** The page at the top of the folder, if there is one. */
export async function findTopPage(root: string): Promise<PublicFile | undefined> {
  return await openRegular(root, [indexName]);
}

/** The names of a path from the top of the folder to the file; undefined where one is none that a file here can have. */
function readNames(path: string): string[] | undefined {
  const segments = path.split('/');
  if (segments.length > maxSegments) return undefined;
  if (segments.at(-1) === '') segments[segments.length - 1] = indexName;
  const names = segments.map(decode);
  return names.every((name) => name !== undefined) ? names : undefined;
}

function decode(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    return name === '' || name.startsWith('.') || /[/\\\0]/.test(name) ? undefined : name;
  } catch {
    // No percent-encoded UTF-8 (RFC 3986 section 2.1).
    return undefined;
  }
}

async function openRegular(root: string, names: readonly string[]): Promise<PublicFile | undefined> {
  const path = join(root, ...names);
  let handle: FileHandle | undefined;
  try {
    // The folder that holds the pages may be reached by links of the operator's; what is in it may not.
    const real = join(await realpath(join(root, '..')), 'public', ...names);
    if (await realpath(path) !== real) return undefined;
    // A pipe would be waited for.
    handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (stat.isFile()) return { name: names.join('/'), handle, size: stat.size, updatedAt: stat.mtime };
    await handle.close();
    return undefined;
  } catch (error) {
    await handle?.close();
    if (notThere.has(errorCode(error))) return undefined;
    throw error;
  }
}

/** Not there, a link, below a file, a name longer than a file's can be, a socket, not readable. */
const notThere: ReadonlySet<string> = new Set([
  'ENOENT',
  'ELOOP',
  'ENOTDIR',
  'EMLINK',
  'ENAMETOOLONG',
  'ENXIO',
  'EACCES',
]);
