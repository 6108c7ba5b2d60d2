// A disk that is full under PostgreSQL and everything else: a small file system, which only root may mount.
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { as, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';

const run = promisify(execFile);
const isSmall = process.getuid?.() === 0;
/** PostgreSQL refuses what it has no room for, or ends itself where that was its log. */
const noRoom = { status: 503, body: { code: 'unavailable' }, retry: expect.stringMatching(/^(1|60)$/) };
let home = '';
let server: TestServer;
let store: Storefront;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-small-'));
  await chmod(home, 0o711);
  if (isSmall) await run('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=0711', 'tmpfs', home]);
  server = await startServer({
    dataDir: join(home, 'data'),
    config: { ...unlimited, 'storage.reserve_mb': 0 },
  });
  store = await openStorefront(server.url);
});
afterAll(async () => {
  await server.stop();
  if (isSmall) await run('umount', ['--lazy', home]);
  await rm(home, { recursive: true, force: true });
});

/** Takes all the room that there is. */
async function fill(): Promise<void> {
  await using filler = await open(join(home, 'filler'), 'w');
  const block = Buffer.alloc(65_536);
  const full = async () => {
    for (;;) await filler.write(block);
  };
  await expect(full()).rejects.toMatchObject({ code: 'ENOSPC' });
}

/** Writes large records until one is refused; 40 of them fit into what PostgreSQL has set aside, if so many. */
async function writeUntilRefused(kept: string[]) {
  for (let left = 40; left > 0; left--) {
    const id = randomUUID();
    const { status, body, headers } = await store.master.post(store.records, {
      id,
      title: randomBytes(500_000).toString('hex'),
    });
    if (status !== 201) return { status, body, retry: headers.get('retry-after') };
    kept.push(id);
  }
  return undefined;
}

it(
  'fault.disk-full: PostgreSQL without room is 503 and no fault, and nothing is lost once there is room',
  async () => {
    const kept: string[] = [];
    if (isSmall) await fill();
    const refused = await writeUntilRefused(kept);
    if (!isSmall) return expect(refused).toBeUndefined();
    expect(refused).toMatchObject(noRoom);
    const source = `// ${'x'.repeat(100_000)}`;
    const put = await store.master.put('/api/workspaces/acme/apps/shop/hooks/hook.js', { source });
    expect({ status: put.status, body: put.body, retry: put.headers.get('retry-after') }).toMatchObject(
      noRoom,
    );
    expectOk(await as(undefined, server.url).get('/healthz'));
    await server.line('No space left on device');

    await rm(join(home, 'filler'));
    const id = randomUUID();
    // PostgreSQL may have ended itself, and rest for half a minute between its attempts to start.
    await expect.poll(() => store.write(id).then(({ status }) => status), { timeout: 150_000 }).toBe(201);
    for (const each of [...kept, id]) expectOk(await store.read(each));
  },
  180_000,
);
