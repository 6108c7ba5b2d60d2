// How often the database is asked for what relations lead to.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onCollection } from '../../../api/records/collection.ts';
import { branchesOf, expanding } from '../../../api/records/expand.ts';
import { unboundedAccess } from '../../../api/rules/access.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import type { StoredRecord } from '../../../storage/records/plan.ts';
import { type BareApp, bareApp, created, relationTo } from '../../harness/bare-app.ts';

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

it('asks once for each level and collection, however many records and relations there are', async () => {
  const company = await app.create('companies');
  const records: StoredRecord[] = [];
  for (let n = 0; n < 30; n++) {
    const publisher = await app.create('companies');
    const author = await app.create('authors', { company: company.id, publisher: publisher.id });
    const editor = await app.create('authors', { company: publisher.id });
    records.push(await app.create('posts', { author: author.id, editor: editor.id }));
  }
  await onCollection(app.deps, await app.target('posts'), async (scope) => {
    const { connection, runs } = counting(scope.connection);
    const expand = 'author.company,author.publisher,editor.company';
    const branches = branchesOf(scope.target, expand);
    const access = unboundedAccess('list', created);
    const show = await expanding((record) => record, { ...scope, connection }, { access, branches, records });
    expect(records.map(show)).toHaveLength(30);
    expect(show(records[0] ?? expect.fail())).toMatchObject({ expand: { author: { expand: { company } } } });
    expect(runs()).toBe(2);
  });
});
