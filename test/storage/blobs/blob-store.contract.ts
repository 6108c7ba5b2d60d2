// What every blob store does, whatever keeps the bytes.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BlobKey,
  type BlobLocation,
  BlobMissing,
  type BlobStore,
  type GiveWay,
} from '../../../storage/blobs/blob-store.ts';

const place = (): BlobLocation => ({
  database: `w_${randomBytes(10).toString('hex')}`,
  schema: `a_${randomBytes(10).toString('hex')}`,
});
const keyIn = (at: BlobLocation): BlobKey => ({ ...at, id: randomUUID() });
const longAgo = new Date(0);
const future = new Date(Date.now() + 3_600_000);

async function* pieces(...chunks: (Uint8Array | string)[]) {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

async function read(store: BlobStore, key: BlobKey, range?: { start: number; end: number }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(key, range)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function idsOf(store: BlobStore, at: BlobLocation, abandoned = longAgo): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list(at, abandoned)) ids.push(id);
  return ids.sort();
}

async function appsOf(store: BlobStore, database: string): Promise<string[]> {
  const schemas: string[] = [];
  for await (const schema of store.apps(database)) schemas.push(schema);
  return schemas.sort();
}

/** Runs the contract against a backend. */
export function blobStoreContract(
  name: string,
  open: (giveWay?: GiveWay) => Promise<{ store: BlobStore; stop: () => Promise<void> }>,
): void {
  describe(`a blob store: ${name}`, () => {
    let store: BlobStore;
    let stop: () => Promise<void>;
    beforeAll(async () => {
      ({ store, stop } = await open());
    });
    afterAll(() => stop());

    it('copies all blobs of an app to another, and each goes its own way', async () => {
      const [from, to] = [place(), place()];
      const [one, two] = [keyIn(from), keyIn(from)];
      await store.put(one, pieces('one'));
      await store.put(two, pieces('two'));
      await store.copyAll(from, to);
      expect(await idsOf(store, to)).toEqual([one.id, two.id].sort());
      await store.remove(one);
      expect((await read(store, { ...to, id: one.id })).toString()).toBe('one');
      await store.removeAll(to);
      expect((await read(store, two)).toString()).toBe('two');
      await store.copyAll(place(), to);
      expect(await idsOf(store, to)).toEqual([]);
    });

    it('gives back what was put, whole and in ranges', async () => {
      const key = keyIn(place());
      expect(await store.put(key, pieces('hello ', 'blob ', 'world'))).toEqual({ size: 16 });
      expect((await read(store, key)).toString()).toBe('hello blob world');
      expect((await read(store, key, { start: 6, end: 9 })).toString()).toBe('blob');
      expect((await read(store, key, { start: 15, end: 15 })).toString()).toBe('d');
    });

    it('keeps nothing as well as much', async () => {
      const at = place();
      const [empty, large] = [keyIn(at), keyIn(at)];
      expect(await store.put(empty, pieces())).toEqual({ size: 0 });
      expect(await read(store, empty)).toHaveLength(0);
      const bytes = randomBytes(12 * 1024 * 1024);
      const chunks = Array.from({ length: 12 }, (_, i) => bytes.subarray(i << 20, (i + 1) << 20));
      expect(await store.put(large, pieces(...chunks))).toEqual({ size: bytes.length });
      expect((await read(store, large)).equals(bytes)).toBe(true);
    });

    it('keeps nothing of an upload that fails half-way, and says why', async () => {
      const key = keyIn(place());
      const failing = (async function* () {
        yield randomBytes(6 * 1024 * 1024);
        throw new Error('cut off');
      })();
      await expect(store.put(key, failing)).rejects.toThrow('cut off');
      await expect(store.open(key)).rejects.toThrow(BlobMissing);
      expect(await idsOf(store, key)).toEqual([]);
    });

    it('says that a blob is missing, in its own place too', async () => {
      const key = keyIn(place());
      await expect(store.open(key)).rejects.toThrow(BlobMissing);
      await store.put(key, pieces('x'));
      await expect(store.open({ ...key, schema: place().schema })).rejects.toThrow(BlobMissing);
    });

    it('removes one, which may be done again', async () => {
      const at = place();
      const [gone, kept] = [keyIn(at), keyIn(at)];
      await store.put(gone, pieces('gone'));
      await store.put(kept, pieces('kept'));
      await store.remove(gone);
      await store.remove(gone);
      await expect(store.open(gone)).rejects.toThrow(BlobMissing);
      expect(await idsOf(store, at)).toEqual([kept.id]);
    });

    it('removes all of an app, and all of a workspace', async () => {
      const [mine, other] = [place(), place()];
      const sibling = { ...mine, schema: place().schema };
      for (const at of [mine, sibling, other]) await store.put(keyIn(at), pieces('x'));
      await store.removeAll(mine);
      expect(await idsOf(store, mine)).toEqual([]);
      expect(await idsOf(store, sibling)).toHaveLength(1);
      await store.removeAll({ database: mine.database });
      await store.removeAll({ database: mine.database });
      expect(await idsOf(store, sibling)).toEqual([]);
      expect(await idsOf(store, other)).toHaveLength(1);
    });

    it('lists blobs with the time they were written, and the apps that have any', async () => {
      const at = place();
      const key = keyIn(at);
      const before = Date.now() - 2_000;
      await store.put(key, pieces('x'));
      const [blob, ...others] = await Array.fromAsync(store.list(at, longAgo));
      expect([blob?.id, others]).toEqual([key.id, []]);
      expect(blob?.modified.getTime()).toBeGreaterThan(before);
      await store.put({ ...keyIn(at), schema: `a_${'f'.repeat(20)}` }, pieces('x'));
      await store.put(keyIn(at), pieces('y'));
      expect(await appsOf(store, at.database)).toEqual([at.schema, `a_${'f'.repeat(20)}`]);
      expect(await appsOf(store, place().database)).toEqual([]);
    });

    it('lists no upload that is under way, and sweeps one away that was abandoned', async () => {
      const at = place();
      const key = keyIn(at);
      const [arrived, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const putting = store.put(
        key,
        (async function* () {
          // More than a part of a multipart upload, so that it has begun.
          yield randomBytes(6 * 1024 * 1024);
          arrived.resolve();
          await goOn.promise;
          throw new Error('the process died');
        })(),
      );
      const failed = putting.then(() => 'done', (error: Error) => error.message);
      await arrived.promise;
      expect(await idsOf(store, at, future)).toEqual([]);
      goOn.resolve();
      expect(await failed).toBe('the process died');
      expect(await idsOf(store, at, future)).toEqual([]);
    });

    it('lets an upload in progress come to its end, also when blobs are listed meanwhile', async () => {
      const key = keyIn(place());
      const listed = async function* () {
        yield randomBytes(6 * 1024 * 1024);
        expect(await idsOf(store, key)).toEqual([]);
        yield Buffer.from('x');
      };
      expect(await store.put(key, listed())).toEqual({ size: 6 * 1024 * 1024 + 1 });
      expect(await idsOf(store, key)).toEqual([key.id]);
    });

    it('takes up no bytes before others have been let pass', async () => {
      const others = Promise.withResolvers<void>();
      const polite = await open(() => others.promise);
      const key = keyIn(place());
      let taken = 0;
      const putting = polite.store.put(
        key,
        (async function* () {
          for (const piece of ['a', 'b', 'c']) {
            taken++;
            yield Buffer.from(piece);
          }
        })(),
      );
      await expect.poll(() => taken).toBe(1);
      // As long as another upload takes.
      await store.put(keyIn(place()), pieces('a', 'b', 'c'));
      expect(taken).toBe(1);
      others.resolve();
      expect(await putting).toEqual({ size: 3 });
      expect((await read(polite.store, key)).toString()).toBe('abc');
      await polite.stop();
    });

    it('takes no id that is not a UUID', async () => {
      for (const id of ['../x', '', 'a/b', '.']) {
        await expect(store.put({ ...place(), id }, pieces('x'))).rejects.toThrow(RangeError);
      }
    });
  });
}
