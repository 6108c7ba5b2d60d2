// Which process is stopped: for another app's, and for want of anything to do.
import { expect, it, onTestFinished, vi } from 'vitest';
import { beforeCreate, type HookOptions, keepBusy, ownHooks } from '../../../harness/hook-system.ts';

const files = {
  'a.js': `
    onRecordBeforeCreate('notes', () => {});
    cronAdd('never', '@yearly', () => new Promise(() => {}));`,
};

/** Hooks of three apps. */
async function three(settings: NonNullable<HookOptions['settings']>) {
  const own = await ownHooks({ settings });
  onTestFinished(() => own.end());
  return [await own.app('one', files), await own.app('two', files), await own.app('three', files)] as const;
}

it('is none where all have something to do: nobody knows then what new files would refuse, and nothing may pass', async () => {
  const own = await ownHooks({ settings: { max_runners: 1 } });
  onTestFinished(() => own.end());
  const [busy, bare] = [await own.app('busy', files), await own.app('bare', {})];
  await busy.reload(true);
  void keepBusy(busy);
  expect(await bare.reload(true)).toEqual({ loaded: [], errors: [] });
  expect(bare.registrations?.files).toEqual([]);
  await own.write('bare', files);
  expect((await bare.reload(false)).errors).toHaveLength(1);
  expect(bare.registrations).toBeUndefined();
  await expect(bare.loadRegistrations()).rejects.toMatchObject({ code: 'hook_busy' });
});

it('is the one that was not used for longest, of those with nothing to do', async () => {
  const [one, two, three_] = await three({ max_runners: 4 });
  await one.reload(true);
  await two.reload(true);
  await beforeCreate(one, 'notes');
  expect(await three_.reload(true)).toEqual({ loaded: ['a.js'], errors: [] });
  expect([one.live?.isOpen, two.live, three_.live?.isOpen]).toEqual([true, undefined, true]);
  void keepBusy(one);
  await beforeCreate(three_, 'notes');
  expect(await beforeCreate(two, 'notes')).toMatchObject({ outcome: 'done' });
  expect([one.live?.isOpen, two.live?.isOpen, three_.live]).toEqual([true, true, undefined]);
  // Where all have something to do, others are refused: after a while, and then at once for a while.
  void keepBusy(two);
  const refused = { code: 'hook_busy', message: 'the workspace has 2 runners already' };
  await expect(beforeCreate(three_, 'notes')).rejects.toMatchObject(refused);
  await expect(beforeCreate(three_, 'notes')).rejects.toMatchObject(refused);
  const lines = three_.log.entries.filter(({ message }) => message.includes('could not be loaded'));
  expect(lines).toHaveLength(1);
});

it('is none of another workspace where one has half of all that there may be', async () => {
  const own = await ownHooks({ settings: { max_runners: 3 } });
  onTestFinished(() => own.end());
  const [lone, one] = [await own.app('lone', files, 'modest'), await own.app('one', files, 'greedy')];
  const [two, three_] = [await own.app('two', files, 'greedy'), await own.app('three', files, 'greedy')];
  for (const hooks of [lone, one, two, three_]) expect((await hooks.reload(true)).errors).toEqual([]);
  expect([lone.live?.isOpen, one.live, two.live?.isOpen, three_.live?.isOpen]).toEqual([
    true,
    undefined,
    true,
    true,
  ]);
  // Not even where that one's all have something to do.
  for (const hooks of [two, three_]) void keepBusy(hooks);
  await expect(beforeCreate(one, 'notes')).rejects.toMatchObject({ code: 'hook_busy' });
  expect([lone.live, two.live, three_.live].map((live) => live?.isOpen)).toEqual([true, true, true]);
});

it('is one that was not used for so long, unless something is under way in it', async () => {
  const [one, two, three_] = await three({ idle_ms: 1_000 });
  for (const hooks of [one, two, three_]) await hooks.reload(true);
  void keepBusy(two);
  await vi.waitUntil(() => one.live === undefined && three_.live === undefined, { timeout: 25_000 });
  expect([one.registrations?.jobs.length, two.live?.isOpen]).toEqual([1, true]);
  expect(await beforeCreate(one, 'notes')).toMatchObject({ outcome: 'done' });
});
