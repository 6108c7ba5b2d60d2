// What a reload finds that is asked for while another load is under way.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { beforeCreate, type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

let own: OwnHooks;

beforeAll(async () => {
  own = await ownHooks();
});
afterAll(() => own.end());

const slow = 'await new Promise((resolve) => setTimeout(resolve, 300));';
/** Takes the whole process down. */
const bomb = 'const kept = []; for (;;) kept.push(new Array(1_000_000).fill(kept.length));';
const veto = `onRecordBeforeCreate('notes', () => { throw new Error('no'); });`;

it('starts a runner for whoever says so, also behind a change that came to nothing', async () => {
  const hooks = await own.app('forced', { 'a.js': slow });
  const first = hooks.reload(true);
  const changed = hooks.reload(false);
  const forced = hooks.reload(true);
  await Promise.all([first, changed, forced]);
  expect(hooks.live?.number).toBe(2);
  await hooks.reload(false);
  expect(hooks.live?.number).toBe(2);
});

it('tells of a file that was left out, also when a change is noticed while it is being found', async () => {
  const hooks = await own.app('guilty', { 'bad.js': bomb, 'good.js': slow + veto });
  const errors = [expect.objectContaining({ file: 'bad.js' })];
  let isOver = false;
  const first = hooks.reload(true).finally(() => isOver = true);
  let last = first;
  // However far it is by then: which file it is takes several runners to find out.
  await vi.waitUntil(() => {
    last = hooks.reload(false);
    return isOver;
  }, { interval: 5, timeout: 20_000 });
  expect(await first).toEqual({ loaded: ['good.js'], errors });
  expect(await last).toEqual({ loaded: ['good.js'], errors });
  expect(await beforeCreate(hooks, 'notes')).toMatchObject({ outcome: 'veto' });
});

it('gives a file that was left out another chance when one that it imports is another', async () => {
  const files = {
    'a.js': `export const go = () => { ${bomb} };`,
    'z.js': `import { go } from './a.js'; go();`,
  };
  const hooks = await own.app('helped', files);
  expect(await hooks.reload(true)).toEqual({
    loaded: ['a.js'],
    errors: [expect.objectContaining({ file: 'z.js' })],
  });
  await own.write('helped', { 'a.js': 'export const go = () => {};' });
  expect(await hooks.reload(false)).toEqual({ loaded: ['a.js', 'z.js'], errors: [] });
});

it('lets a call that waits for a load which finds nothing new start a process', async () => {
  const hooks = await own.app('rested', { 'a.js': veto });
  await hooks.reload(true);
  hooks.stopRunner();
  const changed = hooks.reload(false);
  expect(await beforeCreate(hooks, 'notes')).toMatchObject({ outcome: 'veto' });
  expect(await changed).toEqual({ loaded: ['a.js'], errors: [] });
});

it('gives all files a second chance where none has loaded before: the machine may have been busy', async () => {
  const over = Date.now() + 2_000;
  const source = `if (Date.now() < ${over}) { while (Date.now() < ${over}); ${bomb} } ${veto}`;
  const hooks = await own.app('busy', { 'a.js': source });
  expect(await hooks.reload(true)).toEqual({ loaded: ['a.js'], errors: [] });
  expect(await beforeCreate(hooks, 'notes')).toMatchObject({ outcome: 'veto' });
});

it('knows nothing of what was forgotten, and finds out what there is by now', async () => {
  const hooks = await own.app('forgotten', { 'a.js': '' });
  await hooks.reload(true);
  await own.write('forgotten', { 'a.js': veto });
  hooks.invalidate();
  expect([hooks.registrations, hooks.live]).toEqual([undefined, undefined]);
  expect((await hooks.loadRegistrations()).findWriteEvents('notes', 'create')).toEqual({
    before: 'before_create',
  });
});
