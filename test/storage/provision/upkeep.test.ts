// The background worker: spares are there, and come back.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { currentVersions } from '../../../storage/provision/cluster.ts';
import { makeDatabase } from '../../../storage/provision/database.ts';
import { countSpares, markDropping, takeSpare } from '../../../storage/control/tenant-databases.ts';
import { takeSpareApp } from '../../../storage/workspace/apps.ts';
import { Upkeep } from '../../../storage/provision/upkeep.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { somebodyWaits } from '../../harness/waiting.ts';

let own: OwnInstallation;
beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

it('keeps spares ready, on an idle server and after they are taken', async () => {
  const { upkeep, databases, provisioning } = await own.open({ spares: 2 });
  const versions = currentVersions(provisioning.migrations);
  const spares = () => databases.control.run((sql) => countSpares(sql, versions));
  await upkeep.settled();
  expect(await spares()).toBe(2);
  await databases.control.run((sql) => takeSpare(sql, versions));
  expect(await spares()).toBe(1);
  upkeep.poke('soon');
  await upkeep.settled();
  expect(await spares()).toBe(2);
  await upkeep.stop();
  await databases.control.run((sql) => takeSpare(sql, versions));
  upkeep.poke();
  await upkeep.settled();
  expect(await spares()).toBe(1);
});

it('makes the next app of a workspace whose ready one was taken, and one alone', async () => {
  const { upkeep, databases, provisioning } = await own.open({ spares: 1 });
  await upkeep.settled();
  const versions = currentVersions(provisioning.migrations);
  const database = await databases.control.run((sql) => takeSpare(sql, versions)) ?? '';
  const provisioner = databases.provisioner(database);
  const take = () => provisioner.run((sql) => takeSpareApp(sql, versions.app));
  const first = await take();
  expect([first, await take()]).toEqual([expect.stringMatching(/^a_/), undefined]);
  for (let asked = 0; asked < 2; asked++) {
    upkeep.refillApp(database);
    await upkeep.settled();
  }
  const next = await take();
  expect([next, await take()]).toEqual([expect.stringMatching(/^a_/), undefined]);
  expect(next).not.toBe(first);
  // Its roles go with the database, which is made while nobody has it.
  upkeep.refillApp(database);
  await databases.control.run((sql) => markDropping(sql, database));
  await upkeep.settled();
  const left = await databases.control.run((sql) =>
    sql`select rolname from pg_roles where rolname like ${`${next}%`} or rolname = ${database}`
  );
  expect(left).toEqual([]);
});

it('holds no connection to a spare', async () => {
  const { upkeep, databases } = await own.open({ spares: 3 });
  await upkeep.settled();
  // PostgreSQL's own, as autovacuum's, come and go.
  const open = await databases.control.run((sql) =>
    sql`
      select datname from pg_stat_activity where backend_type = 'client backend'
      and datname in (select name from control.tenant_databases)`
  );
  expect(open).toEqual([]);
});

it('tries again by itself when a round fails', async () => {
  const { databases, provisioning } = await own.open();
  const failures: unknown[] = [];
  let recovered = () => {};
  const reaped = new Promise<void>((resolve) => recovered = resolve);
  const upkeep = new Upkeep({
    provisioning,
    spares: 0,
    removeBlobs: () => Promise.resolve(),
    onReaped: () => recovered(),
    onFailure: (error) => void failures.push(error),
  });
  await databases.control.run((sql) => sql`alter table control.tenant_databases rename to hidden`);
  upkeep.poke();
  await upkeep.settled();
  expect(failures).toHaveLength(2);
  await databases.control.run((sql) => sql`alter table control.hidden rename to tenant_databases`);
  await databases.control.run((sql) =>
    sql`insert into control.tenant_databases (name, state, version, app_version) values ('w_never', 'creating', 1, 1)`
  );
  await reaped;
  await upkeep.stop();
});

it('does another round when it is poked during one', async () => {
  const storage = await own.open();
  await storage.upkeep.settled();
  const { databases, provisioning } = storage;
  const leave = (name: string) =>
    databases.control.run((sql) =>
      sql`insert into control.tenant_databases (name, state, version, app_version) values (${name}, 'creating', 1, 1)`
    );
  const [begun, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reaped: string[] = [];
  const upkeep = new Upkeep({
    provisioning,
    spares: 0,
    removeBlobs: async () => {
      begun.resolve();
      await others.promise;
    },
    onReaped: (name) => void reaped.push(name),
    onFailure: (error) => void reaped.push(String(error)),
  });
  await leave('w_first');
  upkeep.poke();
  await begun.promise;
  await leave('w_second');
  upkeep.poke();
  others.resolve();
  await upkeep.settled();
  expect(reaped).toEqual(['w_first', 'w_second']);
  await upkeep.stop();
});

it('gives out no database that was taken back while it was made', async () => {
  const { databases, provisioning } = await own.open();
  const { control } = databases;
  const { making } = await control.transaction(async (sql) => {
    // A clone of the template waits for this.
    await sql.unsafe(`comment on database ${provisioning.names.template} is 'held'`);
    const making = makeDatabase(provisioning).catch((error: unknown) => error);
    while (!await somebodyWaits(sql));
    await control.run((other) =>
      other`update control.tenant_databases set state = 'dropping' where state = 'creating'`
    );
    return { making };
  });
  expect(await making).toMatchObject({ failure: 'unavailable', message: 'the new database was taken back' });
});
