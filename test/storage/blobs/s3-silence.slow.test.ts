// A bucket that cannot be reached or says nothing, and readers that rest.
import { randomUUID } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { S3Blobs } from '../../../storage/blobs/s3.ts';
import { startS3, type TestS3 } from '../../harness/s3.ts';

const mebibyte = 1_048_576;
/** What callers wait for a word of the store's: less than any of them would like, so that a test need not wait for long. */
const silence = 2_000;
const place = { database: 'w', schema: 'a' };

let s3: TestS3;
let front: Server;
let store: S3Blobs;
let mood: 'well' | 'silent' | 'gone';
/** Ends of the store's that are open. */
const ends = new Set<Socket>();

beforeAll(async () => {
  s3 = await startS3();
  const { hostname, port } = new URL(s3.endpoint);
  front = createServer((near) => {
    near.on('error', () => near.destroy());
    if (mood === 'gone') near.destroy();
    if (mood !== 'well') return;
    const far = connect(Number(port), hostname);
    ends.add(far);
    far.on('error', () => near.destroy()).on('close', () => ends.delete(far) && near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  mood = 'well';
  store = open(silence);
});
afterAll(async () => {
  front.close();
  for (const far of ends) far.destroy();
  await s3.stop();
});

function open(milliseconds?: number): S3Blobs {
  const address = front.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return new S3Blobs(
    {
      bucket: s3.bucket,
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      access_key_id: s3.accessKeyId,
      secret_access_key: s3.secretAccessKey,
      virtual_hosted_style_request: false,
    },
    () => undefined,
    milliseconds,
  );
}

async function* mebibytes(count: number) {
  for (let n = 0; n < count; n++) yield new Uint8Array(mebibyte);
}

/** Keeps a blob that is larger than what sockets hold. */
async function keep() {
  const key = { ...place, id: randomUUID() };
  await open().put(key, mebibytes(32));
  return key;
}

async function read(bytes: Readable, between: () => Promise<unknown> = () => Promise.resolve()) {
  let size = 0;
  for await (const chunk of bytes) {
    if (size === 0) await between();
    size += chunk.length;
  }
  return size;
}

it.each(['gone', 'silent'] as const)(
  'a store that is %s is not taken for a missing blob',
  async (how) => {
    mood = how;
    const key = { ...place, id: randomUUID() };
    const asked = [store.open(key), store.put(key, mebibytes(1))];
    for (const outcome of await Promise.allSettled(asked)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } });
    }
  },
);

it('a store that falls silent in the middle of a blob is given up', async () => {
  const bytes = await store.open(await keep());
  const reading = read(bytes, async () => {
    for (const far of ends) far.unpipe().pause();
    await Promise.resolve();
  });
  await expect(reading).rejects.toMatchObject({ name: 'StoreUnavailable' });
});

it('a reader that leaves while the store is silent takes its connection along', async () => {
  const key = await keep();
  const before = new Set(ends);
  const bytes = await open(600_000).open(key);
  const [end = expect.fail()] = ends.difference(before);
  end.unpipe().pause();
  let size = 0;
  bytes.on('data', (chunk) => size += chunk.length);
  // All that had come until then is read, and more is waited for.
  let last = -1;
  await expect.poll(() => last === (last = size), { interval: 200 }).toBe(true);
  bytes.destroy();
  await expect.poll(() => ends.has(end)).toBe(false);
});

it('a reader that rests for longer than a store may be silent gets the rest', async () => {
  const bytes = await store.open(await keep());
  const rest = () => new Promise((resolve) => setTimeout(resolve, 2 * silence));
  expect(await read(bytes, rest)).toBe(32 * mebibyte);
});

it('readers that rest take no connection from others', async () => {
  const key = await keep();
  const usual = open();
  const resting: Readable[] = [];
  while (resting.length < 60) resting.push(await usual.open(key));
  expect(await read(await usual.open(key, { start: 0, end: 9 }))).toBe(10);
  for (const bytes of resting) bytes.destroy();
});
