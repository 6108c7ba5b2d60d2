// Creates of records that point to one which is just being deleted along with another.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { qualified } from '../../../../storage/app/tables.ts';
import { type BareApp, bareApp, relationTo } from '../../../harness/bare-app.ts';
import { howManyWait } from '../../../harness/waiting.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

it('no new record can point to one that is deleted with another, once its referrers have been locked', async () => {
  const cascade_delete = true;
  await app.define('authors', []);
  await app.define('books', [relationTo('authors', 'author', { cascade_delete })]);
  // Those that point to a book are looked for in the order of their names.
  await app.define('chapters', [relationTo('books', 'book', { cascade_delete })]);
  await app.define('reviews', [relationTo('books', 'book', { cascade_delete })]);
  const author = await app.create('authors');
  const book = await app.create('books', { author: author.id });
  const review = await app.create('reviews', { book: book.id });
  const { workspace, schema } = await app.definition();
  const provisioner = app.deps.databases.provisioner(workspace.database);
  const { removing, creating } = await provisioner.transaction(async (sql) => {
    const table = qualified({ schema, collection: 'reviews' });
    await sql.unsafe(`set local role ${quoteIdentifier(schema)}`);
    await sql.unsafe(`select from ${table} where id = $1::uuid for update`, [review.id]);
    const removing = app.remove('authors', author);
    while (await howManyWait(sql) < 1);
    let isOver = false;
    const creating = Promise.allSettled([app.create('chapters', { book: book.id })])
      .finally(() => isOver = true);
    while (!isOver && await howManyWait(sql) < 2);
    return { removing, creating };
  });
  const { deleted } = await removing;
  expect(deleted.map(({ id }) => id).sort()).toEqual([author.id, book.id, review.id].sort());
  expect(await creating).toMatchObject([{ status: 'rejected', reason: { code: 'validation' } }]);
});
