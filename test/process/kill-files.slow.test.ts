// The API killed while files are uploaded, at every step of it. `BULKHEAD_TEST_FAULTS=all` kills it as
// often as the fault plan asks.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isUuid } from '../../storage/sql/ids.ts';
import { LocalBlobs } from '../../storage/blobs/local.ts';
import { sweepBlobs } from '../../storage/blobs/sweep.ts';
import { Databases } from '../../storage/connections/databases.ts';
import { Secrets } from '../../storage/secrets.ts';
import { type Caller, expectOk } from '../harness/api.ts';
import { endpointOf, masterKeyOf } from '../harness/database.ts';
import { apiPidOf, killApi, timesOf, untilBack } from '../harness/kills.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const rounds = timesOf({ few: 20, all: 300 });
const hour = 3_600_000;
const files = '/api/workspaces/acme/apps/shop/files';
let server: TestServer;
let master: Caller;
beforeAll(async () => {
  server = await startServer({ config: unlimited });
  ({ master } = await openStorefront(server.url));
});
afterAll(() => server.stop());

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Sends a file whose name is the hash of its bytes; answers its id, or undefined when the connection broke. */
async function upload(): Promise<string | undefined> {
  const bytes = randomBytes(randomInt(200_000));
  const response = await fetch(server.url + files, {
    method: 'POST',
    headers: { 'Authorization': `Bearer ${master.token}`, 'X-Filename': hashOf(bytes) },
    body: new Uint8Array(bytes),
  }).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  return response?.status === 201 && text !== undefined ? String(JSON.parse(text).id) : undefined;
}

/** Uploads with several at once until told to stop; then says which were acknowledged. */
function uploadUntilStopped(): { acknowledged: string[]; stop(): Promise<void> } {
  const acknowledged: string[] = [];
  let going = true;
  const one = async () => {
    while (going) {
      const id = await upload();
      if (id !== undefined) acknowledged.push(id);
      // So that a refused connection does not become a busy loop.
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, one));
  return {
    acknowledged,
    async stop() {
      going = false;
      await all;
    },
  };
}

const blobRoot = () => join(server.dataDir, 'blobs');

/** The blobs of the server, with those that are being written: all are of the one app that files are sent to. */
const blobEntries = () =>
  readdirSync(blobRoot(), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

const stored = () => blobEntries().map(({ name }) => name);

/** Where the app's blobs are; a directory for each app, and there is one app. */
function directory(): string {
  const [one] = blobEntries();
  if (one === undefined) throw new Error('there is no blob yet');
  return one.parentPath;
}

/** Resolves as soon as some upload is at this step: its bytes are written, or it has got its name and has no row yet. */
function stepOf(step: 'begun' | 'named'): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(directory(), (event, name) => {
      if (name === null || isUuid(name) !== (step === 'named') || (event === 'rename') !== isUuid(name)) {
        return;
      }
      watcher.close();
      resolve();
    });
  });
}

/** A part of a millisecond or some: whatever comes after a step takes that long. */
const pause = () => new Promise((resolve) => setTimeout(resolve, randomInt(6)));

/** Every file of the app, by id, with the hash of its bytes that its name claims. */
async function listed(): Promise<Map<string, { hash: string; size: number }>> {
  const found = new Map<string, { hash: string; size: number }>();
  for (let page = 1;; page++) {
    const { items } = expectOk(await master.get(`${files}?page=${page}&per_page=200`));
    for (const { id, filename, size } of items) found.set(id, { hash: filename, size });
    if (items.length < 200) return found;
  }
}

async function downloaded(id: string): Promise<{ hash: string; size: number }> {
  const headers = { Authorization: `Bearer ${master.token}` };
  const response = await fetch(`${server.url}${files}/${id}`, { headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { hash: hashOf(bytes), size: bytes.length };
}

/** One sweep, two hours from now, when no upload can be under way any more. */
async function sweep(): Promise<void> {
  const secrets = new Secrets(masterKeyOf(server.dataDir));
  const databases = new Databases({
    provisioner: endpointOf(server.dataDir, 'bulkhead'),
    passwordOf: (role) => secrets.derivePassword(role),
    workspacePoolCap: 1,
    appPoolCap: 1,
    tenantConnections: 2,
    now: Date.now,
  });
  const { signal } = new AbortController();
  const now = () => new Date(Date.now() + 2 * hour);
  try {
    await sweepBlobs({
      databases,
      blobs: new LocalBlobs(blobRoot()),
      now,
      graceMs: hour,
      pauseMs: 0,
      signal,
    });
  } finally {
    await databases.end();
  }
}

it(
  `has no file without its bytes after ${rounds} kills, and no bytes without a file after one sweep`,
  async () => {
    const { acknowledged, stop } = uploadUntilStopped();
    for (let round = 0; round < rounds; round++) {
      const pid = await apiPidOf(server);
      const until = acknowledged.length + 10;
      await expect.poll(() => acknowledged.length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(until);
      await stepOf(round % 2 === 0 ? 'begun' : 'named');
      // Every third at that very step, the others somewhat later.
      if (round % 3 > 0) await pause();
      await killApi(pid);
      await untilBack(server);
    }
    await stop();
    const rows = await listed();
    const parts = stored().filter((name) => name.endsWith('.part')).length;
    const nameless = stored().filter((name) => isUuid(name) && !rows.has(name)).length;
    const unheard = rows.size - acknowledged.length;
    console.log(
      `${rounds} kills, ${acknowledged.length} uploads acknowledged; killed before the rename: ${parts}, ` +
        `before the row: ${nameless}, before the response: ${unheard}`,
    );
    // Else nothing was tried.
    expect(Math.min(parts, nameless)).toBeGreaterThan(0);
    expect(acknowledged.filter((id) => !rows.has(id))).toEqual([]);
    await sweep();
    expect(new Set(stored())).toEqual(new Set(rows.keys()));
    for (const [id, row] of rows) expect(await downloaded(id)).toEqual(row);
  },
  60_000 + rounds * 5_000,
);
