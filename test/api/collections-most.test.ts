// How many collections an app can have.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertCollection } from '../../storage/collections.ts';
import { type BareApp, bareApp, created } from '../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

it('an app has at most 1,000 collections, and says so', async () => {
  const { workspace, id, schema } = await app.definition();
  await app.run(async (sql) => {
    for (let number = 1; number < 1_000; number++) {
      await insertCollection(sql, schema, { id: `c${number}`, kind: 'base', fields: [], now: created });
    }
  });
  await app.deps.definitions.invalidate(workspace.id, id);
  await app.define('last', []);
  await expect(app.define('more', [])).rejects.toMatchObject({
    code: 'conflict',
    message: 'the app has 1000 collections, the most it can have',
  });
});
