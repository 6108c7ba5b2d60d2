// Versions of hook files for which there is no more room: what runs is known, and there is no way back to it.
import { expect, it } from 'vitest';
import { listHookVersions, putHookVersion, readHookSources } from '../../../../storage/app/hook-versions.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { scenario, title } from '../../../harness/scenario.ts';

it('a version beyond the room is stored without its source, and with it once there is room', async () => {
  const made = await scenario();
  await made.inDatabase(async (sql) => {
    const [app] = await sql<{ schema: string }[]>`
      select schema from workspace.apps where id = ${made.app.id}`;
    const schema = app?.schema ?? '';
    await sql.unsafe(`set role ${quoteIdentifier(schema)}`);
    const loaded_at = new Date('2026-01-01T00:00:00Z');
    const put = (filename: string, maxBytes: number) =>
      putHookVersion(sql, schema, {
        ...{ filename, source: Buffer.from('12345'), sha256: filename, registrations: '{}' },
        ...{ loaded_at, maxBytes },
      });
    await put('one.js', 8);
    await put('two.js', 8);
    const rows = async () =>
      (await listHookVersions(sql, schema)).map((row) => [row.filename, row.has_source, row.loaded_at]);
    expect(await rows()).toEqual([['one.js', true, loaded_at], ['two.js', false, loaded_at]]);
    await put('two.js', 10);
    expect(await rows()).toEqual([['one.js', true, loaded_at], ['two.js', true, loaded_at]]);
    const [stored] = await readHookSources(sql, schema, ['two.js']);
    expect(stored?.source.toString()).toBe('12345');
  });
});

it('a guard to whose last version there is no way back refuses what it guarded while it does not load', async () => {
  const source = "onRecordBeforeCreate('orders', () => { throw new Error('no'); });";
  const made = await scenario({
    collections: { orders: [title], free: [title] },
    hooks: { 'guard.js': source },
  });
  const { admin, path } = made.app;
  const create = (collection: string) => admin.post(made.records(collection), { title: 'x' });
  expectError(await create('orders'), 400, 'hook_veto');
  await made.inDatabase(async (sql) => {
    const [app] = await sql<{ schema: string }[]>`
      select schema from workspace.apps where id = ${made.app.id}`;
    const schema = quoteIdentifier(app?.schema ?? '');
    await sql.unsafe(`set role ${schema}`);
    const table = `${schema}._hook_versions`;
    const forget = () => sql.unsafe(`update ${table} set source = '' where filename = 'guard.js'`);
    await expect.poll(async () => (await forget()).count).toBe(1);
  });
  const { reload } = expectOk(await admin.put(`${path}/hooks/guard.js`, { source: 'const = 1;' }));
  expect(reload.errors).toEqual([expect.objectContaining({ file: 'guard.js' })]);
  expectError(await create('orders'), 500, 'hook_error');
  expect((await create('free')).status).toBe(201);
  expectOk(await admin.put(`${path}/hooks/guard.js`, { source }));
  expectError(await create('orders'), 400, 'hook_veto');
});
