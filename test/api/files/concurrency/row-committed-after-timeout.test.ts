// A file whose row PostgreSQL commits after the upload has timed out.
import { expect, it } from 'vitest';
import { ownerRole } from '../../../../storage/sql/ids.ts';
import { actingAs } from '../../../../storage/provision/acting.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { expectOk } from '../../../harness/api.ts';
import { openDatabaseOf } from '../../../harness/database.ts';
import { fileApp, get, put } from '../../../harness/file-app.ts';

const { own, app, user } = await fileApp();

it('has its bytes once it is there', async () => {
  const database = await openDatabaseOf(own.id);
  try {
    const response = await database.run(async (sql) => {
      const [row] = await sql`select schema from workspace.apps where id = ${app.id}`;
      const schema = String(row?.['schema']);
      const commit = `${quoteIdentifier(schema)}.commit_late`;
      // In the connection's own name, as no transaction of this test stays open.
      await sql`select pg_advisory_lock(7)`;
      await sql`begin`;
      await actingAs(sql, ownerRole(schema), () =>
        sql.unsafe(`
          create function ${commit}() returns trigger language plpgsql as $$
          begin
            perform pg_catalog.set_config('transaction_timeout', '0', true);
            while not pg_catalog.pg_try_advisory_xact_lock(7) loop perform pg_catalog.pg_sleep(0.05); end loop;
            return null;
          end $$;
          create constraint trigger late after insert on ${quoteIdentifier(schema)}._files
            deferrable initially deferred for each row execute function ${commit}()`));
      await sql`commit`;
      const response = await put(user, app, 'late bytes');
      await sql`select pg_advisory_unlock(7)`;
      return response;
    });
    expect(response.status).toBe(503);
    const list = async () => expectOk(await user.get(`${app.path}/files`)).items;
    // Beside the one that the app begins with.
    await expect.poll(list).toHaveLength(2);
    const [{ id }] = await list();
    const download = await get(user, `${app.path}/files/${id}`);
    expect(await download.text()).toBe('late bytes');
  } finally {
    await database.end();
  }
});
