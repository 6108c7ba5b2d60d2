// Unfinished uploads to a bucket: found over all pages, and aborted. And what stores require besides.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlobMissing } from '../../../storage/blobs/blob-store.ts';
import { S3Blobs } from '../../../storage/blobs/s3.ts';
import { startUploadStore, type UploadStore } from '../../harness/s3-uploads.ts';

let peer: UploadStore;
let store: S3Blobs;

beforeEach(async () => {
  peer = await startUploadStore();
  store = new S3Blobs({
    bucket: peer.bucket,
    // Nothing says which one, where the store is not AWS's own.
    region: '',
    endpoint: peer.endpoint,
    access_key_id: 'anybody',
    secret_access_key: 'anything',
    virtual_hosted_style_request: false,
  });
});
afterEach(() => peer.stop());

const names = Array.from({ length: 7 }, () => randomUUID()).sort();
/** Seven keys, one of them with three uploads: a page may end between those. */
const beginAll = (prefix: string) => {
  for (const name of names) peer.begin(`${prefix}/${name}`);
  for (let n = 0; n < 2; n++) peer.begin(`${prefix}/${names[3]}`);
};

async function drain<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* mebibytes(count: number) {
  for (let n = 0; n < count; n++) yield randomBytes(1_048_576);
}

describe('unfinished uploads', () => {
  it('that were abandoned are all aborted by a sweep of their app, and those of others stay', async () => {
    beginAll('w_1/a_1');
    const others = ['w_1/a_2/other', 'w_1/a_10/other'].map(peer.begin);
    expect(await drain(store.list({ database: 'w_1', schema: 'a_1' }, new Date()))).toEqual([]);
    expect([...peer.uploads.keys()]).toEqual(others);
  });

  it('that may go on yet are left alone', async () => {
    beginAll('w_1/a_1');
    await drain(store.list({ database: 'w_1', schema: 'a_1' }, new Date(0)));
    expect(peer.uploads.size).toBe(9);
  });

  it('go with all else of an app', async () => {
    beginAll('w_1/a_1');
    const others = ['w_1/a_2/other', 'w_1/a_10/other'].map(peer.begin);
    await store.removeAll({ database: 'w_1', schema: 'a_1' });
    expect([...peer.uploads.keys()]).toEqual(others);
  });

  it('go with all else of a workspace', async () => {
    beginAll('w_1/a_1');
    beginAll('w_1/a_2');
    const others = ['w_2/a_1/other', 'w_10/a_1/other'].map(peer.begin);
    await store.removeAll({ database: 'w_1' });
    expect([...peer.uploads.keys()]).toEqual(others);
  });

  it('count for the apps that a database has', async () => {
    for (const schema of ['a_1', 'a_2', 'a_3', 'a_4', 'a_5']) peer.begin(`w_1/${schema}/${randomUUID()}`);
    // What somebody else has put there.
    peer.begin('w_1//nobody');
    expect(await drain(store.apps('w_1'))).toEqual(['a_1', 'a_2', 'a_3', 'a_4', 'a_5']);
  });
});

describe('a listing of unfinished uploads', () => {
  const place = { database: 'w_1', schema: 'a_1' };

  it.each([405, 501])('that the store responds to with %i means that there are none', async (status) => {
    peer.listing = { status };
    expect(await drain(store.list(place, new Date()))).toEqual([]);
  });

  it('that the store refuses is no empty one', async () => {
    peer.listing = { status: 403 };
    await expect(drain(store.list(place, new Date()))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 403 },
    });
  });

  it('that does not say where it goes on has an end', async () => {
    peer.listing = {
      status: 200,
      xml: '<ListMultipartUploadsResult><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>',
    };
    expect(await drain(store.list(place, new Date()))).toEqual([]);
  });
});

describe('a store that lists more than the prefix', () => {
  const others = ['w_1/a_10', 'w_2/a_1', 'elsewhere'].map((place) => `${place}/${names[0]}`);
  const place = { database: 'w_1', schema: 'a_1' };

  beforeEach(() => {
    peer.heedsPrefix = false;
    for (const name of [...others, `w_1/a_1/${names[1]}`]) peer.objects.add(name);
    for (const name of [...others, `w_1/a_1/${names[2]}`]) peer.begin(name);
  });

  it('keeps what is not of the app that is removed', async () => {
    await store.removeAll(place);
    expect([[...peer.objects], [...peer.uploads.values()]]).toEqual([others, others]);
  });

  it('lists nothing of others, whose uploads go on', async () => {
    expect((await drain(store.list(place, new Date()))).map(({ id }) => id)).toEqual([names[1]]);
    expect([...peer.uploads.values()]).toEqual(others);
    expect(await drain(store.apps('w_1'))).toEqual(['a_1', 'a_10']);
    expect(await drain(store.apps('w_3'))).toEqual([]);
  });
});

describe('many blobs at once', () => {
  it('are all listed, and nothing that is none', async () => {
    for (const name of [...names, 'README', 'a/b']) peer.objects.add(`w_1/a_1/${name}`);
    const listed = await drain(store.list({ database: 'w_1', schema: 'a_1' }, new Date()));
    expect(listed.map(({ id }) => id)).toEqual(names);
  });

  it('are removed with the checksum that the API requires', async () => {
    for (const name of names) peer.objects.add(`w_1/a_1/${name}`);
    await store.removeAll({ database: 'w_1' });
    expect([...peer.objects]).toEqual([]);
  });

  it('that the store keeps are reported, when all others are removed', async () => {
    for (const name of names) peer.objects.add(`w_1/a_1/${name}`);
    peer.kept.add(`w_1/a_1/${names[3]}`);
    await expect(store.removeAll({ database: 'w_1' })).rejects.toThrow(
      'the store kept 1 of 7 blobs: AccessDenied',
    );
    expect([...peer.objects]).toEqual([...peer.kept]);
  });
});

describe('an upload', () => {
  const key = { database: 'w_1', schema: 'a_1', id: randomUUID() };

  it('of several parts leaves nothing unfinished', async () => {
    expect(await store.put(key, mebibytes(12))).toEqual({ size: 12 * 1_048_576 });
    expect(peer.uploads.size).toBe(0);
  });

  it('that a sweep aborts fails because the blob is missing', async () => {
    peer.onPart = () => peer.uploads.clear();
    await expect(store.put(key, mebibytes(12))).rejects.toThrow(BlobMissing);
  });

  it('whose completion went unheard is found to be complete', async () => {
    const failures = [500];
    peer.onComplete = () => failures.shift();
    expect(await store.put(key, mebibytes(12))).toEqual({ size: 12 * 1_048_576 });
  });

  it('that was removed right after its completion fails because the blob is missing', async () => {
    peer.onComplete = () => {
      peer.objects.clear();
      return 500;
    };
    await expect(store.put(key, mebibytes(12))).rejects.toThrow(BlobMissing);
  });

  it('that the store refuses says what the store said, and leaves nothing unfinished', async () => {
    peer.onPart = () => 403;
    await expect(store.put(key, mebibytes(12))).rejects.toMatchObject({
      name: 'StoreUnavailable',
      cause: { name: 'AccessDenied' },
    });
    expect(peer.uploads.size).toBe(0);
  });

  it('that the store cannot take for now is sent once more', async () => {
    const failures = [503];
    peer.onPart = () => failures.shift();
    expect(await store.put(key, mebibytes(12))).toEqual({ size: 12 * 1_048_576 });
  });

  it.each([429, 500, 503])('that the store responds to with %i finds it unavailable', async (status) => {
    peer.onPart = () => status;
    await expect(store.put(key, mebibytes(12))).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(peer.uploads.size).toBe(0);
  });

  it('whose source breaks off is aborted, and throws what the source threw', async () => {
    const broken = async function* () {
      yield* mebibytes(7);
      throw new Error('the client has gone');
    };
    await expect(store.put(key, broken())).rejects.toThrow('the client has gone');
    expect(peer.uploads.size).toBe(0);
    expect(peer.asked.filter((line) => line.startsWith('DELETE '))).toHaveLength(1);
  });
});
