// Writes whose record is pointed to by a new collection, or whose app is replaced, while before-hooks run.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../../../api/apps/create.ts';
import { removeApp } from '../../../../api/apps/remove.ts';
import type { WriteHooks } from '../../../../api/hooks/ports.ts';
import { createRecord } from '../../../../api/records/create.ts';
import { listRecords } from '../../../../api/records/list.ts';
import { removeRecord } from '../../../../api/records/remove.ts';
import { updateRecord } from '../../../../api/records/update.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import { LocalBlobs } from '../../../../storage/blobs/local.ts';
import type { StoredRecord } from '../../../../storage/app/records/plan.ts';
import { type BareApp, bareApp, created, relationTo } from '../../../harness/bare-app.ts';
import { soleWriter } from '../../../harness/sole-writer.ts';

const access = unboundedAccess('delete', created);

let app: BareApp;
let deps: BareApp['deps'];
let told: StoredRecord[];
/** What happens when a hook is asked for the first time. */
let meanwhile: () => Promise<void>;
let asked: string[];

beforeAll(async () => {
  app = await bareApp();
  await app.define('authors', [{ name: 'name', kind: 'text' }]);
  const hooks: WriteHooks = {
    before: true,
    after: false,
    runBefore: async ({ record }) => {
      asked.push(record.collection);
      if (asked.length === 1) await meanwhile();
      return undefined;
    },
    runAfter: () => Promise.resolve(),
  };
  deps = {
    ...soleWriter(app.deps),
    hooks: { getWriteHooks: () => Promise.resolve({ isEmpty: false, on: () => hooks }) },
    realtime: { publish: (_topic, { record }) => void told.push(record as StoredRecord) },
  };
});
afterAll(() => app.end());
beforeEach(() => {
  told = [];
  asked = [];
});

async function total(collection: string): Promise<number> {
  const page = { page: 1, per_page: 1, count: true };
  return (await listRecords(deps, await app.target(collection), { access, page })).total_items;
}

describe('a deletion, while its before-hooks run', () => {
  it('empties relations of a collection that was created meanwhile, after running its hooks', async () => {
    const { id } = await app.create('authors');
    let note: StoredRecord | undefined;
    meanwhile = async () => {
      await app.define('notes', [relationTo('authors', 'author')]);
      note = await app.create('notes', { author: id });
    };
    await removeRecord(deps, await app.target('authors'), { access, id, now: created });
    expect(asked).toEqual(['authors', 'notes']);
    expect(told).toContainEqual({ ...note, fields: { author: null } });
  });

  it('leaves no total wrong of a collection that was created meanwhile', async () => {
    const { id } = await app.create('authors');
    meanwhile = async () => {
      await app.define('posts', [relationTo('authors', 'author', { cascade_delete: true })]);
      for (const author of [id, id, null]) await app.create('posts', { author });
      expect(await total('posts')).toBe(3);
    };
    await removeRecord(deps, await app.target('authors'), { access, id, now: created });
    expect(await total('posts')).toBe(1);
  });
});

describe('a write whose app is deleted, and created again, while its before-hooks run', () => {
  const writes = {
    create: async () => {
      const access = unboundedAccess('create', created);
      await createRecord(deps, await app.target('authors'), { access, input: {}, now: created });
    },
    update: async (id: string) => {
      const access = unboundedAccess('update', created);
      const input = { name: 'late' };
      await updateRecord(deps, await app.target('authors'), { access, id, input, now: created });
    },
  };

  it.each(['create', 'update'] as const)('is no %s in the new app', async (write) => {
    const { id } = await app.create('authors');
    const unheeded = { hooks: { drop: () => undefined }, blobs: new LocalBlobs('/nowhere') };
    meanwhile = async () => {
      const earlier = await app.definition();
      await removeApp({ ...app.deps, ...unheeded }, earlier, app.by);
      await createApp(app.deps, earlier.workspace, { id: earlier.id, name: 'Another', caller: app.by });
      await app.define('authors', [{ name: 'name', kind: 'text' }]);
      await app.create('authors', { id, name: 'of the later one' });
    };
    await expect(writes[write](id)).rejects.toMatchObject({ code: 'app_not_found' });
    expect(await app.count('authors')).toBe(1);
    expect(told).toEqual([]);
  });
});
