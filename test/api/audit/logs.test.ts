// Work on the audit logs of all workspaces, more of them than are listed at once.
import { expect, it, onTestFinished } from 'vitest';
import { withEveryLog } from '../../../api/audit/logs.ts';
import { ownInstallation } from '../../harness/database.ts';

it('is done once to every log, however many there are', async () => {
  const own = await ownInstallation();
  onTestFinished(own.remove);
  const { databases } = await own.open();
  // Nobody connects to them: the work asks for nothing.
  await databases.control.run((sql) =>
    sql`
      insert into control.tenant_databases (name, state, version, app_version)
      select 'w_' || n, 'assigned', 1, 1 from generate_series(1, 401) n`
  );
  onTestFinished(async () => {
    await databases.control.run((sql) => sql`delete from control.tenant_databases`);
  });
  const seen: string[] = [];
  const ending = new AbortController();
  const work = (_connection: unknown, { name }: { name: string }) => {
    // One that never came to its end would go on for as long as the test.
    if (seen.push(name) > 500) ending.abort();
    return Promise.resolve();
  };
  const onFailure = (error: unknown) => expect.fail(String(error));
  await withEveryLog({ databases }, work, { ending: ending.signal, onFailure });
  expect(seen).toHaveLength(402);
  expect(new Set(seen).size).toBe(402);
});
