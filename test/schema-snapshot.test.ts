// What the migrations lead to, as a file that a reviewer can read: `npx vitest run test/schema-snapshot.test.ts -u`
// writes it anew.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Storage } from '../storage/boot/boot.ts';
import { describeSchema } from './harness/catalog.ts';
import { type OwnInstallation, ownInstallation } from './harness/database.ts';
import { makeTenant, type Tenant } from './harness/tenants.ts';

let own: OwnInstallation;
let storage: Storage;
let tenant: Tenant;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  tenant = await makeTenant(storage);
});
afterAll(() => own.remove());

/** Names that differ from run to run stand for themselves. */
function stable(text: string): string {
  return text.replaceAll(tenant.schema, 'APP').replaceAll(tenant.database, 'WORKSPACE')
    .replaceAll(own.access.database, 'CONTROL');
}

const picture = (database: string, schema: string) =>
  own.as({ database }, async (sql) => stable(await describeSchema(sql, schema)));

it('the control schema is what its snapshot says', async () => {
  await expect(await picture(own.access.database, 'control')).toMatchFileSnapshot(
    'snapshots/schema.control.sql',
  );
});

it('the workspace schema is what its snapshot says', async () => {
  await expect(await picture(tenant.database, 'workspace')).toMatchFileSnapshot(
    'snapshots/schema.workspace.sql',
  );
});

it('an app schema is what its snapshot says', async () => {
  await expect(await picture(tenant.database, tenant.schema)).toMatchFileSnapshot('snapshots/schema.app.sql');
});
