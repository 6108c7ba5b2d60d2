// Interrupted downloads: slow clients, disconnected clients, missing bytes.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink, rm, truncate } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { blobFolderOf, type FileApp, fileApp, get, upload } from '../../harness/file-app.ts';
import { listProcesses } from '../../harness/processes.ts';

const size = 10 * 1_048_576;
let files: FileApp;
let bytes: Buffer;
let id: string;
beforeAll(async () => {
  files = await fileApp();
  bytes = randomBytes(size);
  ({ id } = await upload(files.user, files.app, bytes));
});

/** Asks for the file so many times over one connection; nothing is read yet. */
async function ask(times: number): Promise<Socket> {
  const { hostname, port } = new URL(serverUrl());
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const head = [
    `GET ${files.app.path}/files/${id} HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${files.user.token}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`.repeat(times));
  return socket;
}

/** How many descriptors, of whatever process, have the blob open. */
async function descriptors(): Promise<number> {
  const links = await Promise.all((await listProcesses()).map(async ({ pid }) => {
    const directory = `/proc/${pid}/fd`;
    const names = await readdir(directory).catch(() => []);
    // One may be closed since the listing.
    return await Promise.all(names.map((name) => readlink(join(directory, name)).catch(() => '')));
  }));
  return links.flat().filter((link) => link.endsWith(id)).length;
}

it('reaches a client that takes it bit by bit, byte for byte', async () => {
  const socket = await ask(1);
  socket.pause();
  const parts: Buffer[] = [];
  let length = 0;
  let headEnd = -1;
  while (headEnd === -1 || length < headEnd + 4 + size) {
    await once(socket, 'readable');
    // A piece, and then a turn of the server's.
    for (let part = socket.read(); part !== null; part = socket.read()) {
      parts.push(part);
      length += part.length;
      await nextTurn();
    }
    if (headEnd === -1) headEnd = Buffer.concat(parts).indexOf('\r\n\r\n');
  }
  socket.destroy();
  expect(Buffer.concat(parts).subarray(headEnd + 4).equals(bytes)).toBe(true);
});

it('reaches a client that asks for the next before the first is there', async () => {
  const socket = await ask(3);
  let length = 0;
  for await (const part of socket) {
    length += part.length;
    // Heads are a few hundred bytes each.
    if (length > 3 * size) break;
  }
  expect(length).toBeGreaterThan(3 * size);
});

it('closes the file when the client leaves half-way, also while pipelined requests wait behind it', async () => {
  for (const times of [1, 3]) {
    const socket = await ask(times);
    // One of a connection is served at a time.
    await expect.poll(descriptors).toBe(1);
    socket.destroy();
    await expect.poll(descriptors).toBe(0);
  }
});

/** Where the bytes of a file are. */
async function pathOf(id: string): Promise<string> {
  const all = await readdir(await blobFolderOf(files.own.id), { recursive: true, withFileTypes: true });
  return join(all.find(({ name }) => name === id)?.parentPath ?? '', id);
}

it('of bytes that are gone is a fault of the server, and the file is still known', async () => {
  const lost = await upload(files.user, files.app, 'x');
  const path = `${files.app.path}/files/${lost.id}`;
  await rm(await pathOf(lost.id));
  const response = await get(files.user, path);
  const body = { code: 'internal', message: 'the bytes of this file are missing' };
  expect([response.status, await response.json()]).toEqual([500, body]);
  expect((await get(files.user, `${path}/meta`)).status).toBe(200);
});

it('is cut off when bytes are missing, so that nobody takes it for whole', async () => {
  const short = await upload(files.user, files.app, Buffer.alloc(1_000_000, 'x'));
  await truncate(await pathOf(short.id), 600_000);
  const response = await get(files.user, `${files.app.path}/files/${short.id}`);
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow('terminated');
  // The server is well.
  const whole = await get(files.user, `${files.app.path}/files/${id}`, { Range: 'bytes=0-9' });
  expect(Buffer.from(await whole.arrayBuffer()).equals(bytes.subarray(0, 10))).toBe(true);
});
