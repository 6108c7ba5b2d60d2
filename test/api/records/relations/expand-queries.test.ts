// How often the database is queried for related records.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onCollection } from '../../../../api/records/collection.ts';
import { expandRelations } from '../../../../api/records/relations/expand.ts';
import { readExpand } from '../../../../api/records/relations/expand-paths.ts';
import type { RecordSelector } from '../../../../api/records/input/selection.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import type { Connection } from '../../../../storage/connections/pool.ts';
import type { StoredRecord } from '../../../../storage/app/records/plan.ts';
import { type BareApp, bareApp, created, relationTo } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('companies', [{ name: 'name', kind: 'text' }]);
  await app.define('authors', [relationTo('companies', 'company'), relationTo('companies', 'publisher')]);
  await app.define('posts', [relationTo('authors', 'author'), relationTo('authors', 'editor')]);
});
afterAll(() => app.end());

/** How often `work` runs something on the connection that it is given. */
function counting(connection: Connection): { connection: Connection; runs: () => number } {
  let runs = 0;
  return {
    connection: {
      run: (work) => {
        runs++;
        return connection.run(work);
      },
      transaction: (work) => connection.transaction(work),
    },
    runs: () => runs,
  };
}

/** Records with what is asked of their relations, and how often the database was asked for it. */
async function expanded(
  records: readonly StoredRecord[],
  expand: string,
  collection = 'posts',
): Promise<{ show: RecordSelector; runs: number }> {
  return await onCollection(app.deps, await app.target(collection), async (scope) => {
    const { connection, runs } = counting(scope.connection);
    const branches = readExpand(scope.target, expand);
    const access = unboundedAccess('list', created);
    const show = await expandRelations((record) => record, { ...scope, connection }, {
      access,
      branches,
      records,
      links: app.deps.fileLinks,
    });
    return { show, runs: runs() };
  });
}

it('queries once for each level and collection, however many records and relations there are', async () => {
  const company = await app.create('companies');
  const records: StoredRecord[] = [];
  for (let n = 0; n < 30; n++) {
    const publisher = await app.create('companies');
    const author = await app.create('authors', { company: company.id, publisher: publisher.id });
    const editor = await app.create('authors', { company: publisher.id });
    records.push(await app.create('posts', { author: author.id, editor: editor.id }));
  }
  const { show, runs } = await expanded(records, 'author.company,author.publisher,editor.company');
  expect(records.map(show)).toHaveLength(30);
  expect(show(records[0] ?? expect.fail())).toMatchObject({ expand: { author: { expand: { company } } } });
  expect(runs).toBe(2);
});

it('queries nothing where no record points anywhere, and no further than one does', async () => {
  const post = await app.create('posts');
  const alone = await expanded([post], 'author.company');
  expect([alone.show(post), alone.runs]).toEqual([{ ...post, expand: { author: null } }, 0]);
  const author = await app.create('authors');
  const other = await app.create('posts', { author: author.id });
  const both = await expanded([post, other], 'author.company');
  expect(both.show(other)).toMatchObject({
    expand: { author: { id: author.id, expand: { company: null } } },
  });
  expect(both.runs).toBe(1);
});

it('queries once for each level and relation backwards', async () => {
  const publishers: StoredRecord[] = [];
  for (let n = 0; n < 5; n++) {
    const company = await app.create('companies');
    for (
      const author of [await app.create('authors', { company: company.id }), await app.create('authors')]
    ) {
      await app.create('posts', { author: author.id, editor: author.id });
    }
    publishers.push(company);
  }
  const path = 'authors_via_company.posts_via_author,authors_via_company.posts_via_editor';
  const { show, runs } = await expanded(publishers, path, 'companies');
  const [first = expect.fail()] = publishers;
  expect(show(first).expand?.['authors_via_company']).toMatchObject([
    { expand: { posts_via_author: [{ collection: 'posts' }], posts_via_editor: [{ collection: 'posts' }] } },
  ]);
  expect(runs).toBe(3);
});
