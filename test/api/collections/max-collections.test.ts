// The limit of collections of an app.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertCollection } from '../../../storage/app/collections.ts';
import { type BareApp, bareApp, created } from '../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

it('an app has at most 1,000 collections, and says so', async () => {
  const { workspace, id, schema } = await app.definition();
  await app.deps.databases.appOwner(workspace.database, schema).run(async (sql) => {
    for (let number = 1; number < 1_000; number++) {
      await insertCollection(sql, schema, {
        id: `c${number}`,
        kind: 'base',
        fields: [],
        indexes: [],
        now: created,
      });
    }
  });
  await app.deps.definitions.invalidate(workspace.id, id);
  await app.define('last', []);
  await expect(app.define('more', [])).rejects.toMatchObject({
    code: 'conflict',
    message: 'the app has 1000 collections, the most it can have',
  });
});

it('the fields of an app take up 8 MiB at most, and may become less', async () => {
  const own = await bareApp();
  try {
    const long = (length: number) => ({ name: 'long', kind: 'text', default: 'x'.repeat(length) }) as const;
    await own.define('first', [long(4_000_000)]);
    await own.define('second', [long(4_000_000)]);
    const refused = { code: 'conflict', message: expect.stringContaining('8388608 bytes') };
    await expect(own.define('third', [long(4_000_000)])).rejects.toMatchObject(refused);
    await own.define('third', [long(300_000)]);
    await expect(own.alter('third', [long(400_000)])).rejects.toMatchObject(refused);
    await own.alter('second', [long(3_900_000)]);
    await own.alter('third', [long(400_000)]);
  } finally {
    await own.end();
  }
});

it('the collections of an app have 2,000 indexes at most beside those of ids, and may have fewer', async () => {
  const own = await bareApp();
  const numbers = (count: number, option: { unique: true } | { index: boolean }) =>
    Array.from({ length: count }, (_, at) => ({ name: `f${at}`, kind: 'number', ...option }) as const);
  const relations = (count: number) =>
    Array.from(
      { length: count },
      (_, at) => ({ name: `r${at}`, kind: 'relation', target: 'fifth' }) as const,
    );
  try {
    const { workspace, id, schema } = await own.definition();
    await own.deps.databases.appOwner(workspace.database, schema).run(async (sql) => {
      for (const some of ['first', 'second', 'third']) {
        const fields = numbers(500, { unique: true });
        await insertCollection(sql, schema, { id: some, kind: 'base', fields, indexes: [], now: created });
      }
      const fields = numbers(498, { index: true });
      await insertCollection(sql, schema, { id: 'fourth', kind: 'base', fields, indexes: [], now: created });
    });
    await own.deps.definitions.invalidate(workspace.id, id);
    const refused = { code: 'conflict', message: expect.stringContaining('more than 2000 indexes') };
    await expect(own.define('fifth', numbers(3, { unique: true }))).rejects.toMatchObject(refused);
    await own.define('fifth', numbers(2, { index: true }));
    await expect(own.define('sixth', relations(1))).rejects.toMatchObject(refused);
    await own.define('sixth', []);
    await expect(own.alter('sixth', relations(1))).rejects.toMatchObject(refused);
    await own.alter('fifth', numbers(2, { index: false }));
    await own.alter('sixth', relations(2));
    await expect(own.alter('sixth', relations(3))).rejects.toMatchObject(refused);
  } finally {
    await own.end();
  }
});
