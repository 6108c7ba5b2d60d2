// Databases that PostgreSQL was dropping when it was killed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { dropMarked, type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeTenant, type Tenant } from '../../harness/tenants.ts';

let own: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
});
afterAll(() => own.remove());

const control = <Row extends object>(text: string) => own.as({}, (sql) => sql.unsafe<Row[]>(text));

/** A workspace whose database PostgreSQL has begun to drop, and calls invalid since. */
async function cutOffDrop(): Promise<Tenant> {
  for (let milliseconds = 1;; milliseconds++) {
    const tenant = await makeTenant(storage);
    await control(`update control.tenant_databases set state = 'dropping'`);
    await storage.databases.closePools(tenant.database);
    await storage.databases.onOwnConnection(async (sql) => {
      await sql.unsafe(`set statement_timeout = ${milliseconds}`);
      await sql.unsafe(`drop database ${tenant.database}`);
    }).catch((error: unknown) => expect(error).toMatchObject({ failure: 'timeout' }));
    const [found] = await control<{ invalid: boolean }>(
      `select datconnlimit = -2 as invalid from pg_database where datname = '${tenant.database}'`,
    );
    if (found?.invalid === true) return tenant;
    await dropMarked(storage.databases);
  }
}

it('are dropped by the reaper, with their roles', async () => {
  const { database, schema } = await cutOffDrop();
  expect(await dropMarked(storage.databases)).toEqual([database]);
  const left = await control(`
    select datname from pg_database where datname = '${database}'
    union all select rolname from pg_roles where rolname in ('${database}', '${schema}', '${
    ownerRole(schema)
  }')`);
  expect(left).toEqual([]);
});
