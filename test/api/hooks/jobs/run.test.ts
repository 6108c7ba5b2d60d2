// One run of a job: what it takes while it runs, and when there is none.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runJob } from '../../../../api/hooks/jobs/run.ts';
import { type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

let own: OwnHooks;
beforeAll(async () => {
  own = await ownHooks();
});
afterAll(() => own.end());

const run = (name: string) => ({ name, due: new Date(0), requestId: 'test' });

it('takes one of the turns of its app, and gives it back however it ends', async () => {
  const source = `cronAdd('works', '@yearly', () => {}); cronAdd('throws', '@yearly', () => { throw 1; });`;
  const hooks = await own.app('turns', { 'a.js': source });
  const taken = Array.from({ length: 31 }, () => hooks.slots.acquire());
  await Promise.all(taken);
  for (const name of ['works', 'throws', 'works']) await runJob(hooks, run(name));
  expect(hooks.slots.acquire()).toBeUndefined();
  expect(hooks.log.entries.map(({ message }) => message)).toEqual(['1']);
});

it('is none where the code has no such job by now, and nobody is to blame', async () => {
  const hooks = await own.app('none', { 'a.js': `cronAdd('other', '@yearly', () => {});` });
  expect(await runJob(hooks, run('gone'))).toMatchObject({ refusal: { code: 'not_found' } });
  expect(hooks.log.entries).toEqual([]);
});
