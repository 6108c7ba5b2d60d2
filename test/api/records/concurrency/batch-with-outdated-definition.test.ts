// A batch in a process that has not been notified of a change of a collection.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDefinitions } from '../../../../api/collections/cache.ts';
import { runBatch } from '../../../../api/records/batch.ts';
import { type BareApp, bareApp, created } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

it('a batch is done again, as a whole, with the collections as they are', async () => {
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
