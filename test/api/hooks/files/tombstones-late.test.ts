// A hook file that is put while its app, or the workspace, is being deleted: a later app of the same id must not run it.
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type DeletedOwner, HookFilesTombstone } from '../../../../api/hooks/files/tombstones.ts';
import { putHookFile } from '../../../../api/hooks/files/files.ts';
import type { HookLoader } from '../../../../api/hooks/ports.ts';
import { deleteApp } from '../../../../storage/workspace/apps.ts';
import type { AppDefinition } from '../../../../storage/definition.ts';
import type { Connection, Sql } from '../../../../storage/connections/pool.ts';
import { deleteWorkspace } from '../../../../storage/control/workspaces.ts';
import { type BareApp, bareApp } from '../../../harness/bare-app.ts';
import { hookSettings } from '../../../harness/hook-settings.ts';

let app: BareApp;
let dataDir: string;
let dir: string;
let definition: AppDefinition;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tombstone-'));
  dir = join(dataDir, 'hooks');
});
afterAll(() => rm(dataDir, { recursive: true }));
beforeEach(async () => {
  app = await bareApp();
  definition = await app.definition();
  await mkdir(join(dir, 'acme', 'shop'), { recursive: true });
  await writeFile(join(dir, 'acme', 'shop', 'a.js'), '');
});
afterEach(() => app.end());

async function isThere(...path: string[]): Promise<boolean> {
  return await access(join(dir, ...path)).then(() => true, () => false);
}

/** Deletes, and puts a file when all but the commit is done; answers what became of the file. */
async function putLate(
  { connection, remove, owner, meanwhile = () => Promise.resolve() }: {
    connection: Connection;
    remove: (sql: Sql) => Promise<unknown>;
    owner: DeletedOwner;
    meanwhile?: () => Promise<void>;
  },
): Promise<unknown> {
  const { databases, newId, now } = app.deps;
  const hooks = hookSettings(dir);
  const tombstone = new HookFilesTombstone({
    config: { hooks, data_dir: dataDir },
    databases,
    observe: () => undefined,
  });
  // Nothing is loaded from such a file.
  const loader: HookLoader = {
    reload: () => Promise.reject(new Error('loaded')),
    check: () => Promise.reject(new Error('checked')),
    drop: () => undefined,
    dropWorkspace: () => undefined,
  };
  const putting = await connection.transaction(async (sql) => {
    await remove(sql);
    await tombstone.create(owner);
    const change = { filename: 'late.js', source: 'late', by: app.by };
    const response = putHookFile(
      { config: { hooks }, databases, newId, now, hooks: loader },
      definition,
      change,
    )
      .catch((error: unknown) => error);
    await expect.poll(() => isThere('acme', 'shop', 'late.js')).toBe(true);
    await meanwhile();
    return { response };
  });
  await tombstone.remove();
  return await putting.response;
}

it('goes with an app', async () => {
  const { schema, workspace: { database } } = definition;
  const response = await putLate({
    connection: app.deps.databases.provisioner(database),
    remove: (sql) => deleteApp(sql, 'shop', schema),
    owner: { workspace: 'acme', app: 'shop', schema },
  });
  expect(response).toMatchObject({ code: 'app_not_found' });
  expect(await isThere('acme')).toBe(false);
});

it('is left to a later app that has put another text there', async () => {
  const { schema, workspace: { database } } = definition;
  const file = join(dir, 'acme', 'shop', 'late.js');
  const response = await putLate({
    connection: app.deps.databases.provisioner(database),
    remove: (sql) => deleteApp(sql, 'shop', schema),
    owner: { workspace: 'acme', app: 'shop', schema },
    meanwhile: () => writeFile(file, 'of the later app'),
  });
  expect(response).toMatchObject({ code: 'app_not_found' });
  expect(await readFile(file, 'utf8')).toBe('of the later app');
  await rm(file);
});

it('goes with a workspace', async () => {
  const response = await putLate({
    connection: app.deps.databases.control,
    remove: (sql) => deleteWorkspace(sql, definition.workspace),
    owner: { workspace: 'acme', database: definition.workspace.database },
  });
  expect(response).toMatchObject({ code: 'workspace_not_found' });
  expect(await isThere('acme')).toBe(false);
});
