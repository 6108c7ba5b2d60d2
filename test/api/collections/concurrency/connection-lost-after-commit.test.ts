// A change of collections that is committed after its connection was lost: no stale definition is used.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDefinitions } from '../../../../api/collections/cache.ts';
import { changeCollections } from '../../../../api/collections/change.ts';
import type { Storage } from '../../../../storage/boot/boot.ts';
import { insertCollection } from '../../../../storage/app/collections.ts';
import type { Pool, Sql } from '../../../../storage/connections/pool.ts';
import { StorageError } from '../../../../storage/errors.ts';
import { insertWorkspace } from '../../../../storage/control/workspaces.ts';
import { type OwnInstallation, ownInstallation } from '../../../harness/database.ts';
import { makeTenant, type Tenant } from '../../../harness/tenants.ts';
import { howManyWait } from '../../../harness/waiting.ts';

let own: OwnInstallation;
let storage: Storage;
let tenant: Tenant;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  tenant = await makeTenant(storage);
  await storage.databases.control.run((sql) =>
    insertWorkspace(sql, { id: 'acme', name: 'Acme', database: tenant.database, now: new Date() })
  );
});
afterAll(() => own.remove());

/** Has the next transaction's caller hear that its connection is lost; it is committed when somebody waits for its end. */
function loseNextResponse(pool: Pool): void {
  const transaction = pool.transaction.bind(pool);
  pool.transaction = <Result>(work: (sql: Sql) => Promise<Result>) => {
    pool.transaction = transaction;
    return new Promise<Result>((_, reject) => {
      void transaction(async (sql) => {
        await work(sql);
        reject(new StorageError('unavailable', 'the connection was lost'));
        while (await howManyWait(sql) === 0);
      });
    });
  };
}

const master = { role: 'master_admin', id: 'admin', jti: '', issuedAt: 0, expiresAt: 0 } as const;

it('is in effect once it is answered 503', async () => {
  const { databases } = storage;
  const definitions = createDefinitions(storage);
  const find = async () => await definitions.app('acme', tenant.schema.slice(2)) ?? expect.fail('no app');
  const app = await find();
  loseNextResponse(databases.appOwner(tenant.database, tenant.schema));
  const now = new Date();
  const changing = changeCollections({ databases, definitions, newId: randomUUID, now: () => now }, app, {
    by: { principal: master, origin: { requestId: '', ip: '', userAgent: '' }, now },
    work: ({ sql, schema }) =>
      insertCollection(sql, schema, { id: 'notes', kind: 'base', fields: [], indexes: [], now }),
  });
  await expect(changing).rejects.toMatchObject({ failure: 'unavailable' });
  expect([...(await find()).collections.keys()]).toEqual(['notes']);
});
