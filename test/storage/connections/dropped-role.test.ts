// Statements of an app whose role is dropped meanwhile: its connections exist a moment longer.
import { afterAll, describe, expect, it } from 'vitest';
import { auditApp } from '../../../api/audit/write.ts';
import { toApiError } from '../../../api/errors.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import type { Connection, Sql } from '../../../storage/connections/pool.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';
import { inheritRoleText } from '../../../storage/provision/roles.ts';
import { auditDeps } from '../../harness/audit-log.ts';
import { ownInstallation } from '../../harness/database.ts';
import { makeTenant } from '../../harness/tenants.ts';

const own = await ownInstallation();
afterAll(() => own.remove());
const storage = await own.open();

/** Runs a statement of an app, on an open connection, after its role was dropped. */
async function onceGone(
  { databases }: Storage,
  way: keyof Connection,
  work: (sql: Sql) => Promise<unknown>,
): Promise<unknown> {
  const { database, schema } = await makeTenant(storage);
  const roles = [schema, ownerRole(schema)];
  const names = roles.map(quoteIdentifier).join(', ');
  const inherit = roles.map((role) => inheritRoleText(role)).join(' ');
  const drop = `${inherit} drop owned by ${names} cascade; drop role ${names}`;
  return await databases.app(database, schema)[way](async (sql) => {
    await sql`select`;
    await databases.provisioner(database).transaction((provisioner) => provisioner.unsafe(drop));
    await work(sql);
  });
}

describe.each(['run', 'transaction'] as const)('%s: a statement of an app whose role was dropped', (way) => {
  it.each([
    ['an entry of its audit log', async (sql: Sql) => {
      await auditApp(sql, auditDeps, { actor: 'someone', action: 'act', target: 'a target', details: {} });
    }],
    ['a look at users', (sql: Sql) => sql`select * from workspace.users_public`],
    ['what names the role', (sql: Sql) => sql`select session_user`],
    ['what names its schema', (sql: Sql) => sql`select * from nowhere.records`],
  ])('is refused as one of an app that is gone: %s', async (_what, work) => {
    const error: unknown = await onceGone(storage, way, work).catch((error: unknown) => error);
    expect(error).toMatchObject({ failure: 'undefined' });
    expect(toApiError(error)).toMatchObject({ status: 503, code: 'unavailable' });
  });
});

it('is a fault of the server while the role exists', async () => {
  const { database, schema } = await makeTenant(storage);
  const denied = storage.databases.app(database, schema).run((sql) => sql`select * from workspace.users`);
  const error: unknown = await denied.catch((error: unknown) => error);
  expect(error).toMatchObject({ code: '42501' });
  expect(toApiError(error)).toMatchObject({ status: 500, code: 'internal' });
});

it('is a passing failure when the role may not connect any more: its rights are revoked first', async () => {
  const { database, schema } = await makeTenant(storage);
  const [name, role] = [quoteIdentifier(database), quoteIdentifier(schema)];
  await storage.databases.provisioner(database).run((sql) =>
    sql.unsafe(`revoke connect on database ${name} from ${role}`)
  );
  const error: unknown = await storage.databases.app(database, schema).run((sql) => sql`select`)
    .catch((error: unknown) => error);
  expect(error).toMatchObject({
    failure: 'unavailable',
    message: expect.stringContaining('permission denied'),
  });
  expect(toApiError(error)).toMatchObject({ status: 503, code: 'unavailable' });
});
