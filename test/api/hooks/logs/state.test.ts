// How the hooks of an app are, as they say themselves.
import { expect, it } from 'vitest';
import { as, expectOk, ownWorkspace } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';

it('does not call a process running that has crashed', async () => {
  const app = await (await ownWorkspace()).app();
  const source = `
    routerAdd('GET', '/fine', () => 'fine');
    routerAdd('GET', '/crash', () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); });`;
  const status = async () => expectOk(await app.admin.get(`${app.path}/hooks/status`));
  // A busy machine takes its time to fill the memory.
  const bound = { kind: 'range', min: 30_000, max: 30_000 };
  expectOk(await app.admin.put(`${app.path}/policies/hooks.timeout_ms`, bound));
  expectOk(await app.admin.put(`${app.path}/hooks/routes.js`, { source }));
  expectOk(await as().get(`${app.path}/custom/fine`));
  expect(await status()).toMatchObject({ running: true, last_kill: null });
  expectError(await as().get(`${app.path}/custom/crash`), 500, 'hook_error');
  await expect.poll(status, { timeout: 10_000 }).toMatchObject({ running: false, last_kill: 'exited' });
  expectOk(await as().get(`${app.path}/custom/fine`));
  expect(await status()).toMatchObject({ running: true, last_kill: 'exited' });
});

it('shows what is wrong with the files, until that is mended', async () => {
  const app = await (await ownWorkspace()).app();
  const status = async () => expectOk(await app.admin.get(`${app.path}/hooks/status`));
  const put = async (source: string) =>
    expectOk(await app.admin.put(`${app.path}/hooks/a.ts`, { source })).reload;
  const { errors } = await put('routerAdd(');
  expect(errors).toMatchObject([{ file: 'a.ts', line: 1 }]);
  expect(await status()).toMatchObject({ loaded: [], errors, failed_runs: 0 });
  await put("routerAdd('GET', '/boom', () => { throw new Error('boom'); });");
  await as().get(`${app.path}/custom/boom`);
  expect(await status()).toMatchObject({ loaded: ['a.ts'], errors: [], runs: 1, failed_runs: 1 });
});
