// A batch in its process: what that remembers of collections and totals, and what it has not heard yet.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDefinitions } from '../../../api/collections/cache.ts';
import { runBatch } from '../../../api/records/batch.ts';
import { listRecords } from '../../../api/records/list.ts';
import { unboundedAccess } from '../../../api/rules/access.ts';
import { type BareApp, bareApp, created, relationTo } from '../../harness/bare-app.ts';
import { soleWriter } from '../../harness/sole-writer.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

it('a batch is done once more, as a whole, with the collections as they are', async () => {
  const name = { name: 'name', kind: 'text' } as const;
  await app.define('steady', [name]);
  await app.define('moving', [name, { name: 'old', kind: 'text' }]);
  const reader = { ...app.deps, definitions: createDefinitions(app.deps) };
  const stale = await reader.definitions.app('acme', 'shop') ?? expect.fail('the app is not there');
  await app.alter('moving', [name, { name: 'fresh', kind: 'text', default: 'x' }]);
  const { principal } = app.by;
  const write = (...bodies: [string, Record<string, unknown>][]) =>
    runBatch(reader, stale, {
      requests: bodies.map(([collection, body]) => ({ method: 'POST', collection, body })),
      asking: { principal, now: created, query: {} },
    });
  const { results } = await write(['steady', { name: 'a' }], ['moving', { name: 'b' }]);
  expect(results.map(({ body }) => 'fields' in body && body.fields)).toEqual([
    { name: 'a' },
    { name: 'b', fresh: 'x' },
  ]);
  expect([await app.count('steady'), await app.count('moving')]).toEqual([1, 1]);
  await expect(write(['steady', { name: 'a' }], ['moving', { old: 'b' }])).rejects.toMatchObject({
    code: 'validation',
    message: 'requests.1: old: unknown field',
  });
  expect([await app.count('steady'), await app.count('moving')]).toEqual([1, 1]);
});

it('a batch makes remembered totals forgotten, also those of records that go along', async () => {
  await app.define('parents', []);
  await app.define('children', [relationTo('parents', 'parent', { cascade_delete: true })]);
  const deps = soleWriter(app.deps);
  const access = unboundedAccess('list', created);
  const total = async (collection: string) => {
    const page = { page: 2, per_page: 1, count: true };
    return (await listRecords(deps, await app.target(collection), { access, page })).total_items;
  };
  const [kept, gone] = [await app.create('parents'), await app.create('parents')];
  await app.create('children', { parent: gone.id });
  await app.create('children', { parent: gone.id });
  expect([await total('parents'), await total('children')]).toEqual([2, 2]);
  await runBatch(deps, await app.definition(), {
    requests: [
      { method: 'POST', collection: 'children', body: { parent: kept.id } },
      { method: 'POST', collection: 'parents', body: {} },
      { method: 'DELETE', collection: 'parents', id: gone.id },
    ],
    asking: { principal: app.by.principal, now: created, query: {} },
  });
  expect([await total('parents'), await total('children')]).toEqual([2, 1]);
});
