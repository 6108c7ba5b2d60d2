// Versions of hook files for which there is no more room: what runs is known, and there is no way back to it.
import { expect, it } from 'vitest';
import { listHookVersions, putHookVersion, readHookSources } from '../../../../storage/app/hook-versions.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { scenario } from '../../../harness/scenario.ts';

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
