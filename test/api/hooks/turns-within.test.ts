// Writes of hook code, whose own hooks must not wait for the slot that the code itself has.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeWriteHooks } from '../../../api/hooks/record-hooks.ts';
import { type OwnHooks, ownHooks } from '../../harness/hook-system.ts';

let own: OwnHooks;
beforeAll(async () => {
  own = await ownHooks();
});
afterAll(() => own.end());

it('a write within a hook runs its hooks while all slots of the app are taken', async () => {
  const source = `onRecordBeforeCreate('posts', (e) => { e.record.fields.title = 'hooked'; });`;
  const hooks = await own.app('within', { 'a.js': source });
  const writes = makeWriteHooks(hooks, await hooks.loadRegistrations()).on('posts', 'create');
  const taken = Array.from({ length: 32 }, () => hooks.slots.acquire());
  await Promise.all(taken);
  let times = 0;
  const withoutSlot = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    times++;
    return await work();
  };
  const record = { id: randomUUID(), collection: 'posts', fields: {}, created_at: '', updated_at: '' };
  const actor = { auth: () => Promise.resolve(null), requestId: 'test', depth: 1, withoutSlot };
  expect(await writes?.runBefore({ actor, record, previous: null })).toEqual({ title: 'hooked' });
  expect(times).toBe(1);
});

it('hook.veto-fail-closed: a write is refused whose hooks find no slot, and no room to wait for one', async () => {
  const hooks = await own.app('crowded', { 'a.js': `onRecordBeforeCreate('posts', () => {});` });
  const writes = makeWriteHooks(hooks, await hooks.loadRegistrations()).on('posts', 'create');
  // 32 that run, and 128 that wait.
  for (let taken = 0; taken < 160; taken++) void hooks.slots.acquire();
  const record = { id: randomUUID(), collection: 'posts', fields: {}, created_at: '', updated_at: '' };
  const actor = { auth: () => Promise.resolve(null), requestId: 'test', depth: 0 };
  const refused = { code: 'hook_busy', status: 503 };
  await expect(writes?.runBefore({ actor, record, previous: null })).rejects.toMatchObject(refused);
});
