// `updated_at`: a write that begins before another one and ends after it does not set it back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateRecord } from '../../../../api/records/update.ts';
import { removeRecord } from '../../../../api/records/remove.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import type { StoredRecord } from '../../../../storage/app/records/plan.ts';
import { type BareApp, bareApp, created, later, relationTo } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('authors', [{ name: 'name', kind: 'text' }]);
  await app.define('posts', [{ name: 'title', kind: 'text' }, relationTo('authors', 'author')]);
});
afterAll(() => app.end());

/** Changes a post as a request that arrived at `now`. */
async function change(id: string, title: string, now: Date): Promise<StoredRecord> {
  const access = unboundedAccess('update', now);
  return await updateRecord(app.deps, await app.target('posts'), { access, id, input: { title }, now });
}

describe('updated_at', () => {
  it('is the time of the latest of the requests that changed the record', async () => {
    const { id } = await app.create('posts');
    expect(await change(id, 'second', later)).toMatchObject({ updated_at: later.toISOString() });
    const last = await change(id, 'first', created);
    expect(last).toMatchObject({ fields: { title: 'first' }, updated_at: later.toISOString() });
  });

  it('is not set back either by the deletion of what the record points to', async () => {
    const author = await app.create('authors');
    const { id } = await app.create('posts', { author: author.id });
    await change(id, 'a', later);
    const told: unknown[] = [];
    const deps = {
      ...app.deps,
      realtime: { publish: (_topic: unknown, event: unknown) => void told.push(event) },
    };
    const access = unboundedAccess('delete', created);
    await removeRecord(deps, await app.target('authors'), { access, id: author.id, now: created });
    expect(told).toContainEqual(expect.objectContaining({
      type: 'record_updated',
      record: expect.objectContaining({ id, updated_at: later.toISOString() }),
    }));
  });
});
