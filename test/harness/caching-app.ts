// A bare app whose records are cached, and its features as a test calls them.
import { createRecord } from '../../api/records/create.ts';
import { getRecord } from '../../api/records/get.ts';
import { removeRecord } from '../../api/records/remove.ts';
import type { SelectedRecord } from '../../api/records/input/selection.ts';
import { updateRecord } from '../../api/records/update.ts';
import { unboundedAccess } from '../../api/rules/access.ts';
import { type BareApp, bareApp, type BareDeps } from './bare-app.ts';
import { soleWriter } from './sole-writer.ts';

/** The app. */
export interface CachingApp {
  app: BareApp;
  deps: BareDeps;
  now: Date;
  create(collection: string, input: Record<string, unknown>): Promise<string>;
  get(collection: string, id: string): Promise<SelectedRecord>;
  change(collection: string, id: string, input: Record<string, unknown>): Promise<void>;
  remove(collection: string, id: string): Promise<void>;
  /** Reads a record as often as it takes for it to be cached. */
  cache(collection: string, id: string): Promise<void>;
  /** Writes past everything that tracks writes: what follows `set` in SQL. */
  writeUntracked(collection: string, set: string): Promise<void>;
}

/** Makes it. */
export async function cachingApp(): Promise<CachingApp> {
  const app = await bareApp();
  const deps = soleWriter(app.deps);
  const now = new Date();
  const access = unboundedAccess('get', now);
  const get = async (collection: string, id: string) =>
    await getRecord(deps, await app.target(collection), { access, id });
  return {
    ...{ app, deps, now, get },
    create: async (collection, input) =>
      (await createRecord(deps, await app.target(collection), { access, input, now })).id,
    change: async (collection, id, input) => {
      await updateRecord(deps, await app.target(collection), { access, id, input, now });
    },
    remove: async (collection, id) => {
      await removeRecord(deps, await app.target(collection), { access, id, now });
    },
    cache: async (collection, id) => {
      for (let reading = 0; reading < 2; reading++) await get(collection, id);
    },
    writeUntracked: async (collection, set) => {
      const { schema } = await app.definition();
      await app.run((sql) => sql.unsafe(`update "${schema}"."${collection}" set ${set}`));
    },
  };
}
