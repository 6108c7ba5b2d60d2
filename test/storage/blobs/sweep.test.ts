// The sweep: what it removes, and what it must leave alone.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { BlobLocation } from '../../../storage/blobs/blob-store.ts';
import { LocalBlobs } from '../../../storage/blobs/local.ts';
import { sweepBlobs, type SweepOptions } from '../../../storage/blobs/sweep.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { insertFile } from '../../../storage/app/files.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeTenant, type Tenant } from '../../harness/tenants.ts';

const hour = 3_600_000;
let own: OwnInstallation;
let storage: Storage;
let root: string;
let tenant: Tenant;
let blobs: LocalBlobs;

beforeAll(async () => {
  own = await ownInstallation();
  root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  blobs = new LocalBlobs(root);
  storage = await own.open({ blobs });
  tenant = await makeTenant(storage);
  await storage.databases.control.run((sql) =>
    sql`update control.tenant_databases set state = 'assigned' where name = ${tenant.database}`
  );
});
afterAll(async () => {
  await own.remove();
  await rm(root, { recursive: true });
});

const sweep = (more: Partial<SweepOptions> = {}) =>
  sweepBlobs({
    databases: storage.databases,
    blobs,
    now: () => new Date(),
    graceMs: hour,
    pauseMs: 0,
    signal: new AbortController().signal,
    ...more,
  });

/** A blob that was last written to so long ago, with or without the row of a file. */
async function blob(place: BlobLocation, { age, file }: { age: number; file: boolean }): Promise<string> {
  const id = randomUUID();
  const { schema, database } = place;
  await blobs.put(
    { ...place, id },
    (async function* () {
      yield Buffer.from('x');
    })(),
  );
  const time = new Date(Date.now() - age);
  await utimes(join(root, database, schema, id), time, time);
  const row = { id, filename: 'x', mime: 'x/y', size: 1, uploaded_by: null, created_at: time };
  if (file) await storage.databases.app(database, schema).run((sql) => insertFile(sql, schema, row));
  return id;
}

async function left(place: BlobLocation): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of blobs.list(place, new Date(0))) ids.push(id);
  return ids.sort();
}

it('removes old blobs without a file, and no other', async () => {
  const kept = [
    await blob(tenant, { age: 2 * hour, file: true }),
    // An upload whose row may be about to be written.
    await blob(tenant, { age: 0, file: false }),
  ];
  await blob(tenant, { age: 2 * hour, file: false });
  expect(await sweep()).toBe(1);
  expect(await left(tenant)).toEqual(kept.sort());
  expect(await sweep()).toBe(0);
});

it('waits for exactly as long as an upload may take, and begins nothing once it is to end', async () => {
  const written = new Date(Date.now() - 2 * hour);
  const id = await blob(tenant, { age: 0, file: false });
  const path = join(root, tenant.database, tenant.schema, id);
  await utimes(path, written, written);
  const at = (late: number) => ({ now: () => new Date(written.getTime() + hour + late) });
  expect(await sweep(at(0))).toBe(0);
  expect(await sweep({ ...at(1), signal: AbortSignal.abort() })).toBe(0);
  expect(await left(tenant)).toContain(id);
  expect(await sweep(at(1))).toBe(1);
});

it('removes them all, however many there are', async () => {
  const folder = join(root, tenant.database, tenant.schema);
  await mkdir(folder, { recursive: true });
  const long = new Date(Date.now() - 2 * hour);
  for (let count = 0; count < 501; count++) {
    const path = join(folder, randomUUID());
    await writeFile(path, 'x');
    await utimes(path, long, long);
  }
  expect(await sweep()).toBe(501);
});

it('checks every workspace, however many there are', async () => {
  onTestFinished(async () => {
    await storage.databases.control.run((sql) =>
      sql`delete from control.tenant_databases where name <> ${tenant.database}`
    );
  });
  // All of them come before it by name, and none has files.
  await storage.databases.control.run((sql) =>
    sql`
      insert into control.tenant_databases (name, state, version, app_version)
      select 'w_' || lpad(n::text, 20, '0'), 'assigned', 1, 1 from generate_series(1, 401) n`
  );
  await blob(tenant, { age: 2 * hour, file: false });
  expect(await sweep()).toBe(1);
});

it('checks every workspace, and then reports those that failed', async () => {
  const broken = { database: `w_${'0'.repeat(20)}`, schema: `a_${'0'.repeat(20)}` };
  onTestFinished(async () => {
    await storage.databases.control.run((sql) =>
      sql`delete from control.tenant_databases where name = ${broken.database}`
    );
    await blobs.removeAll(broken);
  });
  // It comes first by name, and there is no such database.
  await storage.databases.control.run((sql) =>
    sql`
      insert into control.tenant_databases (name, state, version, app_version)
      values (${broken.database}, 'assigned', 1, 1)`
  );
  const kept = await blob(broken, { age: 2 * hour, file: false });
  const before = await left(tenant);
  await blob(tenant, { age: 2 * hour, file: false });
  await expect(sweep()).rejects.toThrow('1 workspaces are left, the first: StorageError');
  expect(await left(tenant)).toEqual(before);
  expect(await left(broken)).toEqual([kept]);
});

it('removes what a deleted app left', async () => {
  const gone = { database: tenant.database, schema: `a_${'0'.repeat(20)}` };
  await blob(gone, { age: 0, file: false });
  expect(await sweep()).toBe(1);
  expect(await left(gone)).toEqual([]);
});

it('leaves alone what is not in the place of a workspace of this server', async () => {
  const foreign = { database: `w_${'0'.repeat(20)}`, schema: `a_${'0'.repeat(20)}` };
  const id = await blob(foreign, { age: 2 * hour, file: false });
  await sweep();
  expect(await left(foreign)).toEqual([id]);
});
