// Migrates every workspace database, and every app in each.
import type { Databases } from '../connections/databases.ts';
import { latestVersion, migrate, type Migrations, refuseNewer } from './migrate.ts';
import { currentVersions, ownSchema, type Provisioning } from '../provision/cluster.ts';
import { appSchema, ensureOwner } from '../provision/app.ts';
import { listOutdatedApps, setAppVersion } from '../workspace/apps.ts';
import { highestVersions, listOutdated, setVersions } from '../control/tenant-databases.ts';
import { FairQueue } from '../concurrency/fair-queue.ts';

const concurrency = 4;

/** Throws `StartRefused` when any database is newer than the program. One cheap query. */
export async function refuseNewerFleet(databases: Databases, migrations: Migrations): Promise<void> {
  const highest = await databases.control.run(highestVersions);
  const known = currentVersions(migrations);
  refuseNewer('a workspace', highest.workspace, known.workspace);
  refuseNewer('an app', highest.app, known.app);
}

/**
 * Migrates outdated databases, a few at once. Current ones cost nothing, because the control database knows every
 * version. Interrupted ones are found again. `report` gets the number that is done. Throws `StorageError`.
 */
export async function migrateFleet(
  provisioning: Provisioning,
  report: (done: number, total: number) => void,
): Promise<void> {
  const { databases, migrations } = provisioning;
  const versions = currentVersions(migrations);
  const behind = await databases.control.run((sql) => listOutdated(sql, versions));
  if (behind.length === 0) return;
  let done = 0;
  const queue = new FairQueue({ slots: concurrency });
  const work = async (database: string) => {
    await migrateDatabase(provisioning, database);
    await databases.control.run((sql) => setVersions(sql, database, versions));
    report(++done, behind.length);
  };
  report(0, behind.length);
  await Promise.all(behind.map((database) => queue.run(() => work(database))));
}

/** Migrates an app's schema as its owner, so that nothing in it ever runs with more rights than the app has. */
async function migrateDatabase(provisioning: Provisioning, database: string): Promise<void> {
  const { databases, migrations } = provisioning;
  const provisioner = databases.provisioner(database);
  await migrate(provisioner, ownSchema(provisioning, 'workspace'));
  const version = latestVersion(migrations.app);
  for (const schema of await provisioner.run((sql) => listOutdatedApps(sql, version))) {
    await provisioner.transaction((sql) => ensureOwner(sql, provisioning, { database, schema }), Infinity);
    const owner = databases.appOwner(database, schema);
    await migrate(owner, appSchema(provisioning, schema));
    await provisioner.run((sql) => setAppVersion(sql, schema, version));
    await owner.closeIdle(0);
  }
  await provisioner.closeIdle(0);
}
