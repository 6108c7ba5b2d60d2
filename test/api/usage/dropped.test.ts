// The usage of an app and a workspace while a collection is dropped.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiResponse, expectOk, type OwnApp, type OwnWorkspace } from '../../harness/api.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { howManyWait } from '../../harness/waiting.ts';
import { scenario } from '../../harness/scenario.ts';
import type { Pool } from '../../../storage/connections/pool.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';

let own: OwnWorkspace;
let app: OwnApp;
let pool: Pool;

beforeAll(async () => {
  const made = await scenario({ collections: { a: [], b: [], c: [] } });
  ({ workspace: own, app } = made);
  pool = await openDatabaseOf(own.id);
  for (const id of ['a', 'b', 'c']) await made.make(made.records(id), {});
});
afterAll(() => pool.end());

/** The response to what has to wait for a drop that is about to be committed. */
async function whileDropping(collection: string, ask: () => Promise<ApiResponse>): Promise<ApiResponse> {
  let isOver = false;
  const { response } = await pool.transaction(async (sql) => {
    const [row] = await sql<{ schema: string }[]>`select schema from workspace.apps where id = ${app.id}`;
    const schema = quoteIdentifier(row?.schema ?? '');
    const owner = quoteIdentifier(ownerRole(row?.schema ?? ''));
    await sql.unsafe(`set local role ${owner}; drop table ${schema}.${collection};
      delete from ${schema}._collections where id = '${collection}'`);
    const response = ask().finally(() => isOver = true);
    while (!isOver && await howManyWait(sql) === 0);
    return { response };
  });
  return await response;
}

it('the usage of a workspace omits the dropped collection', async () => {
  expect(expectOk(await whileDropping('a', () => own.admin.get(`${own.path}/usage`))).records).toBe(2);
});

it('the usage of an app omits the dropped collection', async () => {
  expect(expectOk(await whileDropping('b', () => app.admin.get(`${app.path}/usage`))).records).toBe(1);
});

it('a quota is counted without the dropped collection', async () => {
  expectOk(
    await app.admin.post(`${app.path}/collections`, { schema: { id: 'd', kind: 'base', fields: [] } }),
  );
  const policy = { kind: 'range', min: 0, max: 2 };
  expectOk(await own.admin.put(`${app.path}/policies/quota.records`, policy));
  expectOk(await whileDropping('d', () => app.admin.post(`${app.path}/collections/c/records`, {})));
});
