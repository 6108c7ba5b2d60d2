// The versions of hook files in the database of their app: who may write them, and how much they may be.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readCodeSnapshot } from '../../../../api/hooks/files/code-snapshot.ts';
import { hookFolder } from '../../../../api/hooks/files/folder.ts';
import { type LoadedCode, readVersions, VersionStore } from '../../../../api/hooks/files/versions.ts';
import { createApp } from '../../../../api/apps/create.ts';
import type { AppDefinition } from '../../../../storage/definition.ts';
import { Secrets } from '../../../../storage/secrets.ts';
import { resolveConfig } from '../../../../supervisor/config.ts';
import { type BareApp, bareApp } from '../../../harness/bare-app.ts';

let bare: BareApp;
let folder: string;
let app: AppDefinition;
let made = 0;
const observed: unknown[] = [];

beforeAll(async () => {
  bare = await bareApp();
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-versions-'));
});
afterAll(async () => {
  await bare.end();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  const { workspace } = await bare.definition();
  const id = `app${++made}`;
  await createApp(bare.deps, workspace, { id, name: id, caller: bare.by });
  const found = await bare.deps.definitions.app(workspace.id, id);
  if (found === undefined) throw new Error('the app is not there');
  app = found;
});

function deps() {
  const { config } = resolveConfig({ file: undefined, env: {}, flags: [], cwd: folder, terminal: false });
  return {
    ...{ config: { ...config, hooks: { ...config.hooks, dir: folder } }, databases: bare.deps.databases },
    ...{ secrets: new Secrets(Buffer.alloc(32)), observe: (event: unknown) => void observed.push(event) },
    now: () => new Date(),
  };
}

async function write(files: Record<string, string>): Promise<void> {
  const place = hookFolder(deps().config, app);
  await mkdir(place, { recursive: true });
  for (const [name, source] of Object.entries(files)) await writeFile(join(place, name), source);
}

/** What a process knows that has loaded all files as they are now. */
async function load(): Promise<{ app: AppDefinition; unsaved: LoadedCode | undefined }> {
  const snapshot = await readCodeSnapshot(deps(), app, 1);
  const loaded = snapshot.files.map((version) => ({
    ...version,
    registrations: { file: version.file, hooks: [], routes: [], jobs: [] },
  }));
  return { app, unsaved: { ...snapshot, loaded } };
}
const save = (code: Awaited<ReturnType<typeof load>>) => new VersionStore(deps()).save(code);
const stored = async () => (await readVersions(deps(), app, [])).map(({ file, source }) => [file, source]);

it('are never those of a process that is behind', async () => {
  await write({ 'a.js': '// first' });
  const behind = await load();
  await write({ 'a.js': '// second\u0000' });
  await save(await load());
  await save(behind);
  expect(await stored()).toEqual([['a.js', '// second\u0000']]);
  expect(behind.unsaved).toBeUndefined();
});

it('go with their files, and keep the time of their first load', async () => {
  await write({ 'a.js': '// a', 'b.js': '// b' });
  await save(await load());
  const [first] = await readVersions(deps(), app, []);
  await rm(join(hookFolder(deps().config, app), 'b.js'));
  await save(await load());
  expect(await stored()).toEqual([['a.js', '// a']]);
  expect((await readVersions(deps(), app, []))[0]?.loadedAt).toEqual(first?.loadedAt);
});

it('have at most twice the bytes that the files of an app may have', async () => {
  const text = `//${'x'.repeat(1_048_000)}`;
  const names: string[] = [];
  for (const four of ['abcd', 'efgh', 'i']) {
    // Those of before do not load any more.
    await write(Object.fromEntries(names.map((name) => [name, 'const = 1;'])));
    const added = [...four].map((letter) => `${letter}.js`);
    await write(Object.fromEntries(added.map((name) => [name, text])));
    const { unsaved } = await load();
    if (unsaved === undefined) throw new Error('nothing was loaded');
    const loaded = unsaved.loaded.filter(({ file }) => added.includes(file));
    await save({ app, unsaved: { ...unsaved, loaded } });
    names.push(...added);
  }
  const kept = (await readVersions(deps(), app, [])).filter(({ hasSource }) => hasSource);
  expect(kept.map(({ file }) => file)).toEqual(names.slice(0, 8));
});

it('are stored once the database takes them', async () => {
  await write({ 'a.js': '// a' });
  const code = await load();
  // As one of another name would be.
  await new VersionStore(deps()).save({
    ...{ app: { ...app, schema: 'nowhere' } },
    get unsaved() {
      return code.unsaved;
    },
    set unsaved(_) {
      throw new Error('it was not stored');
    },
  });
  expect(observed).toEqual([expect.objectContaining({ type: 'background_failed' })]);
  expect(await stored()).toEqual([]);
  await save(code);
  expect(await stored()).toEqual([['a.js', '// a']]);
});
