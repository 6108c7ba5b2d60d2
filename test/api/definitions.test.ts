// The cache of definitions: read once, right at once where a change was made, and soon everywhere else.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDefinitions, type DefinitionCache } from '../../api/collections/cache.ts';
import type { Storage } from '../../storage/boot/boot.ts';
import { listenForChanges, type NotificationListener, notifyChange } from '../../storage/control/changes.ts';
import { insertCollection } from '../../storage/app/collections.ts';
import { Databases } from '../../storage/connections/databases.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { insertWorkspace, updateWorkspaceRow } from '../../storage/control/workspaces.ts';
import { type OwnInstallation, ownInstallation } from '../harness/database.ts';
import { collectAll } from '../harness/old-objects.ts';
import { makeApp, makeTenant, type Tenant } from '../harness/tenants.ts';

let own: OwnInstallation;
let storage: Storage;
let tenant: Tenant;
let app: string;
let here: DefinitionCache;
let there: DefinitionCache;
let listening: NotificationListener;
let heard: () => void = () => {};

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  tenant = await makeTenant(storage);
  app = tenant.schema.slice(2);
  await storage.databases.control.run((sql) =>
    insertWorkspace(sql, { id: 'acme', name: 'Acme', database: tenant.database, now: new Date() })
  );
});
beforeEach(async () => {
  await listening?.stop();
  here = createDefinitions(storage);
  there = createDefinitions(storage);
  const cache = there;
  listening = await listenForChanges(own.access, {
    onChange: (change) => {
      cache.invalidateLocally(change);
      heard();
    },
    onResync: () => cache.invalidateAll(),
  });
});
afterAll(async () => {
  await listening?.stop();
  await own.remove();
});

const hearing = () => new Promise<void>((resolve) => heard = resolve);

/** Counts the statements on this subject that the control database has executed since the last call. */
async function counted(work: () => Promise<unknown>): Promise<number> {
  let statements = 0;
  const run = storage.databases.control.run.bind(storage.databases.control);
  storage.databases.control.run = <Result>(task: (sql: Sql) => Promise<Result>) => {
    statements++;
    return run(task);
  };
  try {
    await work();
  } finally {
    storage.databases.control.run = run;
  }
  return statements;
}

it('reads once what many need at once, and then has it in memory', async () => {
  expect(here.peekApp('acme', app)).toBeUndefined();
  const reads = await counted(async () => {
    const found = await Promise.all(Array.from({ length: 50 }, () => here.app('acme', app)));
    expect(new Set(found).size).toBe(1);
    expect(found[0]).toMatchObject({
      id: app,
      schema: tenant.schema,
      workspace: { id: 'acme', database: tenant.database },
      collections: new Map(),
    });
  });
  expect(reads).toBe(1);
  expect(here.peekApp('acme', app)?.id).toBe(app);
  expect(await counted(() => here.workspace('acme'))).toBe(0);
});

it('reads no database for an impossible id, and caches no unknown one', async () => {
  const impossible = ['', 'A', 'a/b', '\0', 'a'.repeat(41), '__proto__', 'constructor '];
  expect(await counted(() => Promise.all(impossible.map((id) => here.workspace(id))))).toBe(0);
  for (let round = 0; round < 2; round++) {
    expect(await counted(async () => expect(await here.workspace('nowhere')).toBeUndefined())).toBe(1);
    expect(await here.app('acme', randomUUID())).toBeUndefined();
  }
  expect(await here.app('nowhere', app)).toBeUndefined();
  expect(await here.workspace('constructor')).toBeUndefined();
});

it('is invalidated here at once, and in other processes within 300 ms', async () => {
  await Promise.all([here.app('acme', app), there.app('acme', app)]);
  const told = hearing();
  const start = performance.now();
  await here.invalidate('acme', app);
  expect(here.peekApp('acme', app)).toBeUndefined();
  await told;
  expect(performance.now() - start).toBeLessThan(300);
  expect(there.peekApp('acme', app)).toBeUndefined();
  expect((await there.app('acme', app))?.id).toBe(app);
});

it('invalidates the apps of a workspace with it', async () => {
  await there.app('acme', app);
  const told = hearing();
  await storage.databases.control.transaction(async (sql) => {
    const { workspace } = await there.app('acme', app) ?? expect.fail('the app is not there');
    await updateWorkspaceRow(sql, workspace, { name: 'Renamed', now: new Date() });
    await notifyChange(sql, { kind: 'workspace', workspace: 'acme' });
  });
  await told;
  expect((await there.app('acme', app))?.workspace.name).toBe('Renamed');
});

it('does not cache what was invalidated while it was being read', async () => {
  const reading = here.app('acme', app);
  here.invalidateLocally({ kind: 'app', workspace: 'acme', app });
  expect((await reading)?.id).toBe(app);
  expect(here.peekApp('acme', app)).toBeUndefined();
  const again = here.workspace('acme');
  here.invalidateAll();
  await again;
  expect(await counted(() => here.workspace('acme'))).toBe(1);
});

it('reads again after a change, though another read is still under way', async () => {
  const reading = here.app('acme', app);
  here.invalidateLocally({ kind: 'app', workspace: 'acme', app });
  const [before, after] = await Promise.all([reading, here.app('acme', app)]);
  expect(before).not.toBe(after);
  expect(here.peekApp('acme', app)).toBe(after);
});

it('passes a failed read on to all who wait, and keeps nothing of it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'bulkhead-definitions-'));
  const host = join(home, 'run');
  const options = {
    passwordOf: (role: string) => storage.secrets.derivePassword(role),
    workspacePoolCap: 1,
    appPoolCap: 1,
    tenantConnections: 1,
    now: Date.now,
  };
  const databases = new Databases({ provisioner: { ...own.access, host }, ...options });
  const cache = createDefinitions({ databases });
  const read = () =>
    Promise.allSettled([cache.app('acme', app), cache.app('acme', app), cache.workspace('acme')]);
  const refused = { status: 'rejected', reason: { failure: 'unavailable' } };
  expect(await read()).toMatchObject([refused, refused, refused]);
  await symlink(own.access.host, host);
  const done = { status: 'fulfilled' };
  // A server that could not be reached is tried again after a moment.
  await expect.poll(read).toMatchObject([done, done, done]);
  await databases.end();
  await rm(home, { recursive: true });
});

/** Gives an app a collection of some 100,000 bytes. Returns the app's id. */
async function declareMuch({ database, schema }: Tenant): Promise<string> {
  const options = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(97, '.'));
  const change = {
    id: 'much',
    fields: [{ name: 'choice', kind: 'select', options }],
    indexes: [],
    now: new Date(),
  } as const;
  const connection = storage.databases.appOwner(database, schema);
  await connection.run((sql) => insertCollection(sql, schema, { ...change, kind: 'base' }));
  return schema.slice(2);
}

describe('when apps are larger together than what may be kept', () => {
  let apps: string[];
  let elsewhere: string;

  beforeAll(async () => {
    const { database } = tenant;
    const schemas = [await makeApp(storage, database), await makeApp(storage, database)];
    apps = await Promise.all(schemas.map((schema) => declareMuch({ database, schema })));
    const other = await makeTenant(storage);
    elsewhere = await declareMuch(other);
    await storage.databases.control.run((sql) =>
      insertWorkspace(sql, { id: 'other', name: 'Other', database: other.database, now: new Date() })
    );
  });

  /** Reads them one after the other, and keeps hold of none. */
  async function readAll(cache: DefinitionCache): Promise<void> {
    await cache.app('other', elsewhere);
    for (const id of apps) await cache.app('acme', id);
    await setImmediate();
    collectAll();
  }

  it('evicts the app that was read first in the workspace that has most', async () => {
    const cache = createDefinitions({ ...storage, mostBytes: 250_000 });
    await readAll(cache);
    const [first = '', second = ''] = apps;
    expect(cache.peekApp('acme', first)).toBeUndefined();
    expect(cache.peekApp('acme', second)?.id).toBe(second);
    expect(cache.peekApp('other', elsewhere)?.id).toBe(elsewhere);
    expect((await cache.app('acme', first))?.collections.size).toBe(1);
  });

  it('keeps what fits', async () => {
    const cache = createDefinitions({ ...storage, mostBytes: 350_000 });
    await readAll(cache);
    for (const id of apps) expect(cache.peekApp('acme', id)?.id).toBe(id);
    expect(cache.peekApp('other', elsewhere)?.id).toBe(elsewhere);
  });

  it('finds the same object as long as it is in use', async () => {
    const cache = createDefinitions({ ...storage, mostBytes: 250_000 });
    const [first = ''] = apps;
    const held = await cache.app('acme', first);
    await readAll(cache);
    await cache.app('acme', app);
    expect(cache.peekApp('acme', first)).toBe(held);
    cache.invalidateLocally({ kind: 'app', workspace: 'acme', app: first });
    expect(cache.peekApp('acme', first)).toBeUndefined();
  });

  it('invalidates an evicted one when it changes, and no other', async () => {
    const cache = createDefinitions({ ...storage, mostBytes: 1 });
    const held = [await cache.app('acme', apps[0] ?? ''), await cache.app('acme', apps[1] ?? '')];
    cache.invalidateLocally({ kind: 'app', workspace: 'acme', app: apps[0] ?? '' });
    expect(cache.peekApp('acme', apps[0] ?? '')).toBeUndefined();
    expect(cache.peekApp('acme', apps[1] ?? '')).toBe(held[1]);
  });
});
