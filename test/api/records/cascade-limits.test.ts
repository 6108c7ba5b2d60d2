// How much may go with one record.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Field } from '../../../storage/definition.ts';
import { qualified } from '../../../storage/tables.ts';
import { type BareApp, bareApp, relationTo } from '../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('authors', [{ name: 'name', kind: 'text' }]);
});
afterAll(() => app.end());

describe('deleting a record', () => {
  it.each([
    { then: 'that would go', options: { cascade_delete: true } },
    { then: 'that would be left without a value', options: {} },
  ])(
    'rule.relation-target: refuses more than 10,000 records $then, and changes nothing',
    async ({ options }) => {
      const collection = `many_${randomUUID().slice(0, 8)}`;
      await app.define(collection, [relationTo('authors', 'author', options)]);
      const author = await app.create('authors');
      const { schema } = await app.definition();
      const table = qualified({ schema, collection });
      await app.run((sql) =>
        sql.unsafe(
          `insert into ${table} (id, author, created_at, updated_at)
         select gen_random_uuid(), $1::uuid, now(), now() from generate_series(1, 10001)`,
          [author.id],
        )
      );
      await expect(app.remove('authors', author)).rejects.toMatchObject({
        code: 'conflict',
        message: 'more than 10000 records depend on this one; delete some of them first',
      });
      await app.run((sql) =>
        sql.unsafe(`delete from ${table} where id in (select id from ${table} limit 1)`)
      );
      const { deleted, updated } = await app.remove('authors', author);
      expect([deleted.length, updated.length]).toEqual(
        options.cascade_delete === true ? [10_001, 0] : [1, 10_000],
      );
    },
  );

  it('refuses records that are too large to go at once', async () => {
    // A column of the name that statements give to the table.
    const named: Field = { name: 'r', kind: 'number' };
    const relation = relationTo('authors', 'author', { cascade_delete: true });
    await app.define('heavy', [relation, { name: 'text', kind: 'text' }, named]);
    const author = await app.create('authors');
    const text = 'x'.repeat(700_000);
    for (let n = 0; n < 100; n++) await app.create('heavy', { author: author.id, text });
    await expect(app.remove('authors', author)).rejects.toMatchObject({
      code: 'conflict',
      message: 'the records that depend on this one are too large to go at once; delete some of them first',
    });
    expect(await app.count('heavy')).toBe(100);
  });
});
