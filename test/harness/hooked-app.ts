// An app whose hooks are tested, and what they leave behind.
import { expect } from 'vitest';
import { expectOk, type OwnApp, type OwnWorkspace } from './api.ts';

/** The app. */
export interface HookedApp extends OwnApp {
  /** Path of a collection's records. */
  records(collection: string): string;
}

/** An app with `posts`, `comments` of them (one relation cascades, one is emptied) and `seen`, and one hook file. */
export async function hookedApp(own: OwnWorkspace, source: string): Promise<HookedApp> {
  const app = await own.app();
  const make = async (id: string, fields: object[]) =>
    expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id, kind: 'base', fields } }));
  await make('posts', [{ name: 'title', kind: 'text' }, { name: 'count', kind: 'number' }, {
    name: 'meta',
    kind: 'json',
  }, { name: 'done', kind: 'bool' }]);
  await make('comments', [
    { name: 'post', kind: 'relation', target: 'posts', cascade_delete: true },
    { name: 'about', kind: 'relation', target: 'posts' },
    { name: 'text', kind: 'text' },
  ]);
  await make('seen', [{ name: 'what', kind: 'text' }, { name: 'data', kind: 'json' }]);
  const put = expectOk(await app.admin.put(`${app.path}/hooks/hooks.ts`, { source }));
  expect(put.reload.errors).toEqual([]);
  return { ...app, records: (collection) => `${app.path}/collections/${collection}/records` };
}

/** What hooks wrote to `seen`, oldest first. */
export async function seen({ admin, records }: HookedApp): Promise<{ what: string; data: unknown }[]> {
  const list = expectOk(await admin.get(`${records('seen')}?sort=id&per_page=200`));
  return list.items.map(({ fields }: { fields: unknown }) => fields);
}
