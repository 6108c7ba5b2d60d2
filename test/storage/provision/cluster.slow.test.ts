// Databases made and dropped, whatever happens in between.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deleteApp } from '../../../storage/workspace/apps.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { currentVersions } from '../../../storage/provision/cluster.ts';
import { makeDatabase } from '../../../storage/provision/database.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { createAppSchema, dropAppSchema } from '../../../storage/provision/app.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';
import { takeSpare } from '../../../storage/control/tenant-databases.ts';
import { dropMarked, type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeApp, makeTenant } from '../../harness/tenants.ts';

let own: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
});
afterEach(async () => {
  await markAll('dropping');
  await sweep();
});
afterAll(() => own.remove());

const control = <Row extends object>(text: string) =>
  storage.databases.control.run((sql) => sql.unsafe<Row[]>(text)).then((rows) => [...rows]);
const markAll = (state: string) => control(`update control.tenant_databases set state = '${state}'`);
const sweep = () => dropMarked(storage.databases);
const rows = () =>
  control<{ name: string; state: string }>('select name, state from control.tenant_databases');

/** Databases and roles of the cluster with any of these names. */
async function remains(...names: string[]): Promise<string[]> {
  const found = await storage.databases.control.run((sql) =>
    sql<{ name: string }[]>`
      select datname::text as name from pg_database where datname::text = any(${names})
      union all select rolname::text from pg_roles where rolname::text = any(${names})`
  );
  return found.map(({ name }) => name).sort();
}

describe('making a database', () => {
  it('leaves a complete one as a spare', async () => {
    const name = await makeDatabase(storage.provisioning);
    expect(await rows()).toEqual([{ name, state: 'spare' }]);
    expect(await remains(name)).toEqual([name, name]);
    expect(
      await storage.databases.workspace(name).run((sql) => sql`select count(*)::int from workspace.users`),
    )
      .toEqual([{ count: 0 }]);
  });

  it('is undone by the reaper at whatever step it was killed', async () => {
    const steps = new Set<string>();
    let spared = 0;
    // Ever later, until it is too late: how long a whole one takes is the machine's affair.
    for (let delay = 0; spared < 2 && delay < 20_000; delay = Math.ceil(delay * 1.2) + 4) {
      const making = makeDatabase(storage.provisioning).then(() => spared++, () => undefined);
      while ((await rows()).length === 0) await new Promise(setImmediate);
      await pause(delay);
      // Ends the session that makes it, as a killed process would.
      await control(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`);
      await making;
      const [left] = await rows();
      const name = left?.name ?? 'none';
      steps.add(`${left?.state ?? 'none'} ${(await remains(name)).length}`);
      await markAll('dropping');
      await sweep();
      expect(await rows()).toEqual([]);
      expect(await remains(name)).toEqual([]);
    }
    console.log(`killed at: ${[...steps].join(', ')}`);
    expect([...steps].some((step) => step.startsWith('creating'))).toBe(true);
    expect(spared).toBe(2);
  }, 120_000);

  it('is left alone by the reaper of another session while it goes on', async () => {
    const making = Array.from({ length: 4 }, () => makeDatabase(storage.provisioning));
    const done = Promise.all(making);
    let finished = false;
    const reaped: string[] = [];
    void done.then(() => finished = true);
    while (!finished) reaped.push(...await sweep());
    expect(reaped).toEqual([]);
    expect((await rows()).map(({ state }) => state)).toEqual(Array(4).fill('spare'));
  });

  it('gives each spare to one caller, and none of other versions', async () => {
    await makeDatabase(storage.provisioning);
    await makeDatabase(storage.provisioning);
    const versions = currentVersions(storage.provisioning.migrations);
    const take = (at = versions) => storage.databases.control.run((sql) => takeSpare(sql, at));
    expect(await take({ ...versions, app: versions.app + 1 })).toBeUndefined();
    const taken = await Promise.all(Array.from({ length: 6 }, () => take()));
    expect(new Set(taken.filter((name) => name !== undefined)).size).toBe(2);
  });
});

describe('the reaper', () => {
  it('db.delete-complete: leaves nothing of a workspace and its apps, and disturbs no other', async () => {
    const gone = await makeTenant(storage);
    const also = await makeApp(storage, gone.database);
    const stays = await makeTenant(storage);
    await storage.databases.app(gone.database, gone.schema).run((sql) => sql`select 1`);
    await control(`update control.tenant_databases set state = 'dropping' where name = '${gone.database}'`);
    expect(await sweep()).toEqual([gone.database]);
    expect(await remains(gone.database, gone.schema, also)).toEqual([]);
    expect(await remains(stays.database, stays.schema)).toEqual([
      stays.schema,
      stays.database,
      stays.database,
    ]);
    expect(await sweep()).toEqual([]);
  });

  it('drops a database that another process still works in', async () => {
    const tenant = await makeTenant(storage);
    const other = await own.open({ worker: 1 });
    const busy = other.databases.app(tenant.database, tenant.schema).run((sql) => sql`select pg_sleep(5)`)
      .catch((error: unknown) => error);
    await other.databases.workspace(tenant.database).run((sql) => sql`select 1`);
    await markAll('dropping');
    expect(await sweep()).toEqual([tenant.database]);
    expect(await busy).toMatchObject({ failure: 'unavailable' });
    await other.close();
  });

  it('leaves to those who come late a database that is unavailable, at every step', async () => {
    const { database } = await makeTenant(storage);
    const late = () => storage.databases.workspace(database).run((sql) => sql`select 1`);
    const name = quoteIdentifier(database);
    for (
      const step of [`alter database ${name} allow_connections false`, `drop database ${name} with (force)`]
    ) {
      await storage.databases.onOwnConnection((sql) => sql.unsafe(step));
      await storage.databases.closePools(database);
      await expect(late()).rejects.toMatchObject({ failure: 'unavailable' });
    }
    await markAll('dropping');
    expect(await sweep()).toEqual([database]);
    await expect(late()).rejects.toMatchObject({ failure: 'unavailable' });
  });

  it('finishes what was killed between its steps', async () => {
    const tenant = await makeTenant(storage);
    await markAll('dropping');
    await storage.databases.closePools(tenant.database);
    await storage.databases.onOwnConnection(async (sql) => {
      await sql.unsafe(`alter database ${tenant.database} allow_connections false`);
      await sql.unsafe(`drop database ${tenant.database}`);
      await sql.unsafe(`drop role ${tenant.schema}`);
    });
    expect(await sweep()).toEqual([tenant.database]);
    expect(await remains(tenant.database, tenant.schema)).toEqual([]);
    await Promise.all([sweep(), sweep()]);
  });

  it('goes on with the others when one cannot be dropped', async () => {
    const [stuck, free] = [await makeTenant(storage), await makeTenant(storage)];
    await control(`insert into control.workspaces (id, name, database, created_at, updated_at)
      values ('stuck', 'Stuck', '${stuck.database}', now(), now())`);
    await markAll('dropping');
    await expect(sweep()).rejects.toMatchObject({ constraint: 'workspaces_database_fkey' });
    expect(await rows()).toEqual([{ name: stuck.database, state: 'dropping' }]);
    expect(await remains(free.database, free.schema)).toEqual([]);
    await control('delete from control.workspaces');
    expect(await sweep()).toEqual([stuck.database]);
  });

  it('may run several times at once', async () => {
    const tenants = await Promise.all([makeTenant(storage), makeTenant(storage)]);
    await markAll('dropping');
    const reaped = (await Promise.all([sweep(), sweep()])).flat().sort();
    expect(reaped).toEqual(tenants.map(({ database }) => database).sort());
  });
});

describe('an app', () => {
  it('is dropped with everything in it while it is in use, and is there or not, never half', async () => {
    const { database, schema } = await makeTenant(storage);
    const other = await makeApp(storage, database);
    const app = storage.databases.app(database, schema);
    const owner = storage.databases.appOwner(database, schema);
    await owner.run((sql) => sql`create table ${sql(schema)}.t (id int)`);
    // Its connection is there by then.
    await app.run((sql) => sql`select 1`);
    const busy = app.run((sql) => sql`select pg_sleep(5)`).catch((error: unknown) => error);
    const drop = (fault: boolean) =>
      storage.databases.provisioner(database).transaction(async (sql) => {
        await deleteApp(sql, schema.slice(2), schema);
        await dropAppSchema(sql, schema);
        if (fault) throw new Error('killed here');
      });
    await expect(drop(true)).rejects.toThrow('killed here');
    expect(await app.run((sql) => sql`select count(*)::int from ${sql(schema)}.t`)).toEqual([{ count: 0 }]);
    expect(await busy).toMatchObject({ failure: 'unavailable' });
    await drop(false);
    expect(await remains(schema, ownerRole(schema))).toEqual([]);
    await expect(app.run((sql) => sql`select 1`)).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await storage.databases.app(database, other).run((sql) => sql`select 1 as one`)).toEqual([{
      one: 1,
    }]);
  });

  it('is made whole or not at all', async () => {
    const { database } = await makeTenant(storage);
    const faulty = storage.databases.provisioner(database).transaction(async (sql) => {
      await createAppSchema(sql, storage.provisioning, { database, schema: 'a_00000000000000000000' });
      throw new Error('killed here');
    });
    await expect(faulty).rejects.toThrow('killed here');
    expect(await remains('a_00000000000000000000', 'o_00000000000000000000')).toEqual([]);
  });

  it('can be made several at once in one workspace, by several processes', async () => {
    const { database } = await makeTenant(storage);
    const other = await own.open({ worker: 1 });
    const apps = await Promise.all([storage, other, storage, other].map((each) => makeApp(each, database)));
    expect((await remains(...apps, ...apps.map(ownerRole))).length).toBe(8);
    await other.close();
  });
});
