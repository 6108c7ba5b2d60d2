// An entry of an app whose role is dropped while it is being written.
import { afterAll, expect, it } from 'vitest';
import { auditApp } from '../../api/audit/write.ts';
import { quoteIdentifier } from '../../storage/quote.ts';
import { inheritRoleText } from '../../storage/roles.ts';
import { auditDeps, workspaceLog } from '../harness/audit-log.ts';
import { ownInstallation } from '../harness/database.ts';

const own = await ownInstallation();
afterAll(() => own.remove());

it('is refused as one of an app that is gone', async () => {
  const storage = await own.open();
  const { database, schema, connection } = await workspaceLog(storage);
  const name = quoteIdentifier(schema);
  const dropped = `${inheritRoleText(schema)}; drop owned by ${name} cascade; drop role ${name}`;
  const appended = storage.databases.app(database, schema).transaction(async (sql) => {
    await sql`select`;
    await connection.transaction((provisioner) => provisioner.unsafe(dropped));
    await auditApp(sql, auditDeps, { actor: 'someone', action: 'act', target: 'a target', details: {} });
  });
  await expect(appended).rejects.toMatchObject({ failure: 'undefined' });
});
