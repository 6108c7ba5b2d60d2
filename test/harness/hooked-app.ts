// An app whose hooks are tested, and what they leave behind.
import { expectOk, type OwnApp, type OwnWorkspace } from './api.ts';
import { scenario } from './scenario.ts';

/** The app. */
export interface HookedApp extends OwnApp {
  /** Path of a collection's records. */
  records(collection: string): string;
}

const collections = {
  posts: [
    { name: 'title', kind: 'text' },
    { name: 'count', kind: 'number' },
    { name: 'meta', kind: 'json' },
    { name: 'done', kind: 'bool' },
  ],
  comments: [
    { name: 'post', kind: 'relation', target: 'posts', cascade_delete: true },
    { name: 'about', kind: 'relation', target: 'posts' },
    { name: 'text', kind: 'text' },
  ],
  seen: [{ name: 'what', kind: 'text' }, { name: 'data', kind: 'json' }],
};

/** An app with `posts`, `comments` of them (one relation cascades, one is emptied) and `seen`, and one hook file. */
export async function hookedApp(workspace: OwnWorkspace, source: string): Promise<HookedApp> {
  const { app, records } = await scenario({ workspace, collections, hooks: { 'hooks.ts': source } });
  return { ...app, records };
}

/** What hooks wrote to `seen`, oldest first. */
export async function seen({ admin, records }: HookedApp): Promise<{ what: string; data: unknown }[]> {
  const list = expectOk(await admin.get(`${records('seen')}?sort=id&per_page=200`));
  return list.items.map(({ fields }: { fields: unknown }) => fields);
}
