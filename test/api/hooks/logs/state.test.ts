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
  expectOk(await app.admin.put(`${app.path}/hooks/routes.js`, { source }));
  expectOk(await as().get(`${app.path}/custom/fine`));
  expect(await status()).toMatchObject({ running: true, last_kill: null });
  expectError(await as().get(`${app.path}/custom/crash`), 500, 'hook_error');
  await expect.poll(status).toMatchObject({ running: false, last_kill: 'exited' });
  expectOk(await as().get(`${app.path}/custom/fine`));
  expect(await status()).toMatchObject({ running: true, last_kill: 'exited' });
});
