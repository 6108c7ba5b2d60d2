// Deletions of files by a process with stale definitions or records.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeStored } from '../../../../api/files/remove.ts';
import type { WriteHooks } from '../../../../api/hooks/ports.ts';
import { LocalBlobs } from '../../../../storage/blobs/local.ts';
import { findFile, insertFile } from '../../../../storage/app/files.ts';
import type { Field } from '../../../../storage/definition.ts';
import { qualified } from '../../../../storage/app/tables.ts';
import { type BareApp, bareApp, created, later } from '../../../harness/bare-app.ts';
import { somebodyWaits } from '../../../harness/waiting.ts';

const cover: Field = { name: 'cover', kind: 'file' };
const title: Field = { name: 'title', kind: 'text' };

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

async function upload(): Promise<string> {
  const { schema } = await app.definition();
  const file = {
    id: randomUUID(),
    filename: 'a',
    mime: 'text/plain',
    size: 1,
    uploaded_by: null,
    created_at: created,
  };
  await app.run((sql) => insertFile(sql, schema, file));
  return file.id;
}

async function isThere(id: string): Promise<boolean> {
  const { schema } = await app.definition();
  return await app.run((sql) => findFile(sql, schema, id)) !== undefined;
}

/** There are no bytes to any of the files. */
const blobs = new LocalBlobs(join(tmpdir(), `bulkhead-no-blobs-${randomUUID()}`));

it('a file goes that a field held which is gone by now', async () => {
  await app.define('posts', [title, cover]);
  const id = await upload();
  await app.create('posts', { title: 'a', cover: id });
  const before = await app.definition();
  await app.alter('posts', [title]);
  await removeStored({ ...app.deps, blobs }, before, { id, caller: undefined, now: created });
  expect(await isThere(id)).toBe(false);
});

it('watchers hear of a record that came to hold the file while hooks were asked', async () => {
  await app.define('pages', [title, cover]);
  const id = await upload();
  const page = await app.create('pages', { cover: id });
  const other = await app.create('pages');
  const told: unknown[] = [];
  const asked: string[] = [];
  const hooks: WriteHooks = {
    before: true,
    after: false,
    runBefore: async ({ record }) => {
      asked.push(record.id);
      if (asked.length > 1) return undefined;
      await app.alter('pages', [title, cover, { name: 'back', kind: 'file' }]);
      await app.change('pages', other, { back: id });
      return undefined;
    },
    runAfter: () => Promise.resolve(),
  };
  const deps = {
    ...app.deps,
    blobs,
    hooks: { getWriteHooks: () => Promise.resolve({ isEmpty: false, on: () => hooks }) },
    realtime: { publish: (_topic: unknown, { record }: { record: unknown }) => void told.push(record) },
  };
  await removeStored(deps, await app.definition(), { id, caller: undefined, now: created });
  expect(told).toHaveLength(2);
  expect(told).toEqual(expect.arrayContaining([
    expect.objectContaining({ id: page.id, fields: { title: null, cover: null, back: null } }),
    expect.objectContaining({ id: other.id, fields: { title: null, cover: null, back: null } }),
  ]));
  expect(asked).toEqual(expect.arrayContaining([page.id, other.id]));
});

it('watchers hear of a record that comes to hold the file while it is being deleted', async () => {
  await app.define('letters', [title, cover]);
  const id = await upload();
  const letter = await app.create('letters');
  const { workspace, schema } = await app.definition();
  const told: unknown[] = [];
  const deps = {
    ...app.deps,
    blobs,
    realtime: { publish: (_topic: unknown, { record }: { record: unknown }) => void told.push(record) },
  };
  const removal = await deps.databases.app(workspace.database, schema).transaction(async (sql) => {
    const table = qualified({ schema, collection: 'letters' });
    await sql.unsafe(`update ${table} set cover = $1::uuid where id = $2::uuid`, [id, letter.id]);
    let isOver = false;
    const going = removeStored(deps, await app.definition(), { id, caller: undefined, now: later })
      .finally(() => isOver = true);
    while (!isOver && !await somebodyWaits(sql));
    return { going };
  });
  await removal.going;
  expect(told).toEqual([{
    ...letter,
    fields: { title: null, cover: null },
    updated_at: later.toISOString(),
  }]);
});
