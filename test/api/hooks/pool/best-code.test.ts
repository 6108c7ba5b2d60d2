// Which code runs while files do not load, as the process sees it that runs them.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { AppHooks } from '../../../../api/hooks/app-hooks.ts';
import { makeWriteHooks } from '../../../../api/hooks/record-hooks.ts';
import { beforeCreate, type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

let own: OwnHooks;

beforeAll(async () => {
  own = await ownHooks();
});
afterAll(() => own.end());
afterEach(() => void vi.restoreAllMocks());

const guard = `onRecordBeforeCreate('notes', () => { throw new Error('no'); });`;
const remove = (id: string, name: string) => rm(join(own.folder(id), name));

/** Begins a write as the server would, with what is registered. */
function write(hooks: AppHooks) {
  const { registrations } = hooks;
  if (registrations === undefined) throw new Error('nothing is known');
  const found = makeWriteHooks(hooks, registrations).on('notes', 'create');
  const record = { id: 'x', collection: 'notes', created_at: '', updated_at: '', fields: {} };
  const actor = { auth: () => Promise.resolve(null), requestId: 'test', depth: 0 };
  return found?.runBefore({ actor, record, previous: null });
}

it('stays in the process where it runs when a file is changed to one that does not load', async () => {
  const hooks = await own.app('steady', { 'guard.js': guard });
  await hooks.reload(true);
  const { live } = hooks;
  await own.write('steady', { 'guard.js': 'const = 1;', 'new.js': 'const = 1;' });
  const errors = ['guard.js', 'new.js'].map((file) => expect.objectContaining({ file }));
  expect(await hooks.reload(false)).toEqual({ loaded: [], errors });
  expect(hooks.live).toBe(live);
  expect(hooks.log.entries.map(({ file, message }) => [file, message])).toContainEqual([
    'guard.js',
    expect.stringMatching(/^it runs on as it was when it loaded first, at 20/),
  ]);
  // A process that ends is followed by one with the same code.
  hooks.stopRunner();
  expect(await beforeCreate(hooks, 'notes')).toMatchObject({ outcome: 'veto', message: 'no' });
});

it('is tried again for a write that is refused, half a minute after the last time', async () => {
  const hooks = await own.app('healed', {
    'guard.js': `import './words.js'; ${guard}`,
    'words.js': '',
  });
  await hooks.reload(true);
  await remove('healed', 'words.js');
  expect(await hooks.reload(false)).toEqual({
    loaded: [],
    errors: [expect.objectContaining({ file: 'guard.js' })],
  });
  await expect(write(hooks)).rejects.toMatchObject({ code: 'hook_error' });
  await own.write('healed', { 'words.js': '' });
  await expect(write(hooks)).rejects.toMatchObject({ code: 'hook_error' });
  const { registrations } = hooks;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
  await expect(write(hooks)).rejects.toMatchObject({ code: 'hook_error' });
  vi.restoreAllMocks();
  await vi.waitUntil(() => hooks.registrations !== registrations, { timeout: 20_000 });
  await expect(write(hooks)).rejects.toMatchObject({ code: 'hook_veto', message: 'no' });
});
