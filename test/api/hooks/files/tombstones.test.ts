// Hook files of an app that is deleted, also when the process dies at a bad moment.
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { HookFilesTombstone, settleTombstones } from '../../../../api/hooks/files/tombstones.ts';
import { deleteApp } from '../../../../storage/workspace/apps.ts';
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool } from '../../../../storage/connections/pool.ts';
import { type BareApp, bareApp } from '../../../harness/bare-app.ts';
import { hookSettings } from '../../../harness/hook-settings.ts';

let app: BareApp;
let dataDir: string;
let dir: string;
let database: string;
let schema: string;
const failures: unknown[] = [];

/** Of a server whose hook files are the operator's own. */
function depsOfOperator(): ConstructorParameters<typeof HookFilesTombstone>[0] {
  const { config, ...rest } = deps();
  return { ...rest, config: { ...config, data_dir: '/elsewhere' } };
}

function deps(): ConstructorParameters<typeof HookFilesTombstone>[0] {
  const hooks = hookSettings(dir);
  return {
    config: { hooks, data_dir: dataDir },
    databases: app.deps.databases,
    observe: (fact) => failures.push(fact),
  };
}

beforeAll(async () => {
  app = await bareApp();
  dataDir = await mkdtemp(join(tmpdir(), 'tombstone-'));
  dir = join(dataDir, 'hooks');
  ({ schema, workspace: { database } } = await app.definition());
});
afterAll(async () => {
  await rm(dataDir, { recursive: true });
  await app.end();
});
beforeEach(async () => {
  await mkdir(join(dir, 'acme', 'shop'), { recursive: true });
  await writeFile(join(dir, 'acme', 'shop', 'a.js'), '');
});

async function isThere(...path: string[]): Promise<boolean> {
  return await access(join(dir, ...path)).then(() => true, () => false);
}

async function left(): Promise<string[]> {
  return await readdir(join(dir, '.leaving'));
}

describe('the hook files of an app', () => {
  it('are back when its deletion fails', async () => {
    const tombstone = new HookFilesTombstone(deps());
    const deletion = tombstone.during(async () => {
      await tombstone.create({ workspace: 'acme', app: 'shop', schema });
      expect(await isThere('acme', 'shop')).toBe(false);
      throw new Error('no commit');
    });
    await expect(deletion).rejects.toThrow('no commit');
    expect(await isThere('acme', 'shop', 'a.js')).toBe(true);
    expect(await left()).toEqual([]);
  });

  it('are back at the next start when the process died before the commit, with those of its workspace', async () => {
    await new HookFilesTombstone(deps()).create({ workspace: 'acme', app: 'shop', schema });
    await writeFile(join(dir, 'acme', 'other'), '');
    await new HookFilesTombstone(deps()).create({ workspace: 'acme', database });
    expect(await left()).toHaveLength(2);
    await settleTombstones(deps());
    expect(await isThere('acme', 'shop', 'a.js')).toBe(true);
    expect(await isThere('acme', 'other')).toBe(true);
    expect(await left()).toEqual([]);
  });

  it('are gone at the next start when it died after the commit, whatever has the id then', async () => {
    await new HookFilesTombstone(deps()).create({
      workspace: 'acme',
      app: 'shop',
      schema: 'a_of_an_earlier_app',
    });
    await mkdir(join(dir, 'acme', 'shop'), { recursive: true });
    await writeFile(join(dir, 'acme', 'shop', 'b.js'), '');
    await settleTombstones(deps());
    expect(await readdir(join(dir, 'acme', 'shop'))).toEqual(['b.js']);
    expect(await left()).toEqual([]);
  });

  it('are not brought back by one process while another is about to commit their deletion', async () => {
    const own = await bareApp();
    onTestFinished(() => own.end());
    const { id, schema, workspace } = await own.definition();
    const parts = { ...deps(), databases: own.deps.databases };
    const owner = { workspace: workspace.id, app: id, schema };
    const { control } = own.deps.databases;
    const endpoint = { ...control.endpoint, database: workspace.database };
    const other = new Pool(endpoint, { cap: 1, permits: unlimitedPermits, now: Date.now });
    onTestFinished(() => other.end());
    const waits = () =>
      control.run((sql) =>
        sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = ${workspace.database}`
      );
    let settled: Promise<void> | undefined;
    await other.transaction(async (sql) => {
      await deleteApp(sql, id, schema);
      await new HookFilesTombstone(parts).create(owner);
      settled = settleTombstones(parts);
      await Promise.race([settled, expect.poll(waits).toHaveLength(1)]);
    });
    await settled;
    expect(await isThere('acme', 'shop')).toBe(false);
    expect(await left()).toEqual([]);
  });

  it('are gone when the commit came through and only its response was lost', async () => {
    const tombstone = new HookFilesTombstone(deps());
    const deletion = tombstone.during(async () => {
      await tombstone.create({ workspace: 'acme', app: 'shop', schema });
      await app.deps.databases.provisioner(database).run((sql) => deleteApp(sql, 'shop', schema));
      throw new Error('connection lost');
    });
    await expect(deletion).rejects.toThrow('connection lost');
    expect(await isThere('acme', 'shop')).toBe(false);
    expect(await left()).toEqual([]);
  });

  it('leave nothing behind, and no failure to anybody', async () => {
    const tombstone = new HookFilesTombstone(deps());
    await tombstone.during(() => tombstone.create({ workspace: 'acme', app: 'shop', schema }));
    await tombstone.remove();
    expect(await isThere('acme', 'shop')).toBe(false);
    const nothing = new HookFilesTombstone(deps());
    await nothing.during(() => nothing.create({ workspace: 'acme', app: 'without', schema }));
    await nothing.remove();
    expect(await left()).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('stay in a folder of the operator’s own, which the log names', async () => {
    for (const owner of [{ workspace: 'acme', app: 'shop', schema }, { workspace: 'acme', database }]) {
      failures.length = 0;
      const tombstone = new HookFilesTombstone(depsOfOperator());
      await tombstone.create(owner);
      await tombstone.remove();
      expect(await isThere('acme', 'shop', 'a.js')).toBe(true);
      const folder = join(dir, 'acme', ...'app' in owner ? ['shop'] : []);
      expect(failures).toEqual([{ type: 'hook_files_kept', folder }]);
    }
    failures.length = 0;
  });

  it('are no matter where the operator’s folder has none', async () => {
    const tombstone = new HookFilesTombstone(depsOfOperator());
    await tombstone.create({ workspace: 'acme', app: 'bare', schema });
    await tombstone.remove();
    expect(failures).toEqual([]);
  });
});
