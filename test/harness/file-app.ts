// Uploads and downloads as clients do them, in a workspace of a test file's own.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Caller, type OwnApp, type OwnWorkspace, ownWorkspace, serverUrl } from './api.ts';
import { databaseOf } from './database.ts';
import { type OwnUser, ownUser } from './users.ts';

/** A workspace with an app and two end-users. */
export interface FileApp {
  own: OwnWorkspace;
  app: OwnApp;
  user: OwnUser;
  other: OwnUser;
  /** Names of all blobs of the workspace, finished or not. */
  blobs(): Promise<string[]>;
  /** The length of each unfinished one: what has come of an upload by now. */
  unfinished(): Promise<number[]>;
}

/** Where the shared server keeps the files of a workspace; what is beside it comes and goes with other tests. */
export async function blobFolderOf(workspace: string): Promise<string> {
  return join(inject('server').dataDir, 'blobs', await databaseOf(workspace));
}

/** How bytes are sent. */
export interface Sent {
  name?: string;
  type?: string;
  coding?: string;
}

/** Makes one. */
export async function fileApp(): Promise<FileApp> {
  const own = await ownWorkspace();
  const app = await own.app();
  const [user, other] = [await ownUser(own), await ownUser(own)];
  // With it there is a folder.
  await upload(user, app, 'landmark');
  const folder = await blobFolderOf(own.id);
  const stored = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile());
  };
  const blobs = async () => (await stored()).map(({ name }) => name).sort();
  const unfinished = async () => {
    const parts = (await stored()).filter(({ name }) => name.endsWith('.part'));
    return await Promise.all(
      parts.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
  };
  return { own, app, user, other, blobs, unfinished };
}

/** Sends bytes as a file. */
export function put(
  caller: Caller,
  { path }: Pick<OwnApp, 'path'>,
  bytes: Uint8Array | string,
  { name, type, coding }: Sent = {},
) {
  return fetch(`${serverUrl()}${path}/files`, {
    method: 'POST',
    headers: {
      ...authorization(caller),
      ...(name === undefined ? {} : { 'X-Filename': name }),
      ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
      'Content-Type': type ?? 'application/octet-stream',
    },
    body: Buffer.from(bytes),
  });
}

/** The same, and the response's body. Throws for any answer but 201. */
export async function upload(
  caller: Caller,
  app: Pick<OwnApp, 'path'>,
  bytes: Uint8Array | string,
  sent: Sent = {},
) {
  const response = await put(caller, app, bytes, sent);
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

/** Reads a path, which may be bytes. */
export function get(caller: Caller, path: string, headers: Record<string, string> = {}) {
  return fetch(serverUrl() + path, { headers: { ...authorization(caller), ...headers } });
}

/** The header that a caller sends. */
export function authorization({ token }: Caller): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
