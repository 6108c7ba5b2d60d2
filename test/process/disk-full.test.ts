// A disk that is full: a small file system of its own for the blobs of a server, which only root may mount.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const mebibyte = 1_048_576;
const files = '/api/workspaces/acme/apps/shop/files';
const run = promisify(execFile);
let server: TestServer;
let master: Caller;
let blobs: string;
/** Whether there is a disk to fill. */
let isSmall = false;

beforeAll(async () => {
  server = await startServer({ config: { 'rate_limit.enabled': false, 'storage.reserve_mb': 0 } });
  blobs = join(server.dataDir, 'blobs');
  await mkdir(blobs, { recursive: true, mode: 0o700 });
  // The disk is the API's user's, as the folder is that root's server gives it.
  const { uid, gid } = await stat(join(server.dataDir, 'hooks'));
  const mount = run('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=6m,mode=0700,uid=${uid},gid=${gid}`,
    'tmpfs',
    blobs,
  ]);
  if (process.getuid?.() === 0) await mount;
  else await expect(mount).rejects.toThrow('mount');
  isSmall = process.getuid?.() === 0;
  master = await setUp(server.url);
  await makeShop(master);
});
afterAll(async () => {
  if (isSmall) await run('umount', ['--lazy', blobs]);
  await server.stop();
});

async function upload(
  bytes: Buffer,
): Promise<{ status: number; body: Record<string, unknown>; retry: string | null }> {
  const response = await fetch(server.url + files, {
    method: 'POST',
    headers: { Authorization: `Bearer ${master.token}`, 'Content-Type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  return {
    status: response.status,
    body: JSON.parse(await response.text()),
    retry: response.headers.get('retry-after'),
  };
}

async function stored(): Promise<string[]> {
  const entries = await readdir(blobs, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name).sort();
}

async function listed(): Promise<string[]> {
  const { items } = expectOk(await master.get(`${files}?per_page=200`));
  return items.map(({ id }: { id: string }) => id).sort();
}

it('fault.disk-full: an upload without room is refused, leaves nothing, and the next one that has room is kept', async () => {
  const kept = await upload(randomBytes(mebibyte));
  expect(kept.status).toBe(201);
  const large = await upload(randomBytes(9 * mebibyte));
  if (!isSmall) return expect(large.status).toBe(201);
  expect(large).toEqual({
    status: 503,
    body: { code: 'unavailable', message: 'the server has no room left for files' },
    retry: '60',
  });
  expect(await server.line('store a file')).toContain('ENOSPC');
  expect(await stored()).toEqual([kept.body['id']]);
  expect(await listed()).toEqual([kept.body['id']]);
  expect((await upload(randomBytes(mebibyte))).status).toBe(201);
});

it('fault.disk-full: of many uploads at once each is whole or not there, and room that is made is used', async () => {
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => upload(randomBytes(2 * mebibyte))));
  if (isSmall) expect(new Set(outcomes.map(({ status }) => status))).toContain(503);
  for (const { status, body } of outcomes) {
    expect(status === 201 || body['code'] === 'unavailable').toBe(true);
  }
  const ids = await listed();
  expect(await stored()).toEqual(ids);
  for (const id of ids) {
    const meta = expectOk(await master.get(`${files}/${id}/meta`));
    const response = await fetch(`${server.url}${files}/${id}`, {
      headers: { Authorization: `Bearer ${master.token}` },
    });
    expect((await response.arrayBuffer()).byteLength).toBe(meta.size);
    expectOk(await master.delete(`${files}/${id}`));
  }
  expect((await upload(randomBytes(4 * mebibyte))).status).toBe(201);
});
