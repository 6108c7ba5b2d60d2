// The memory that policy gives to hooks, when it changes while they run.
import { expect, it, vi } from 'vitest';
import { expectOk, ownWorkspace } from '../../../harness/api.ts';

it('ends a runner that has other memory than policy gives by now, and the next call starts another', async () => {
  const own = await ownWorkspace();
  const { path, admin } = await own.app();
  const source = "routerAdd('GET', '/hello', () => ({ hello: 1 }));";
  expectOk(await admin.put(`${path}/hooks/a.ts`, { source }));
  const status = async () => expectOk(await admin.get(`${path}/hooks/status`));
  expectOk(await admin.get(`${path}/custom/hello`));
  const before = await status();
  expect(before.running).toBe(true);

  const set = (field: string, max: number) =>
    own.admin.put(`${path}/policies/${field}`, { kind: 'range', min: 128, max });
  expectOk(await set('hooks.timeout_ms', 2_000));
  expectOk(await set('hooks.memory_mb', 160));
  await vi.waitUntil(async () => (await status()).running === false, { timeout: 5_000, interval: 20 });
  expect(expectOk(await admin.get(`${path}/custom/hello`))).toEqual({ hello: 1 });
  const after = await status();
  expect(after).toMatchObject({ running: true, failed_runs: 0, last_kill: null });
  expect(after.generation).toBe(before.generation + 1);

  expectOk(await set('hooks.timeout_ms', 1_000));
  expectOk(await admin.get(`${path}/custom/hello`));
  expect((await status()).generation).toBe(after.generation);
});
