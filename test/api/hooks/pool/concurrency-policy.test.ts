// How many handlers of an app run at once, as policy has it.
import { expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';

it('runs no more handlers of an app at once than policy hooks.concurrency says, and lets four times as many wait', async () => {
  const own = await ownWorkspace();
  const { path, admin } = await own.app();
  const source = `routerAdd('GET', '/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return 'done';
  });`;
  expectOk(await admin.put(`${path}/hooks/a.ts`, { source }));
  const callTwelve = () => Promise.all(Array.from({ length: 12 }, () => admin.get(`${path}/custom/slow`)));
  expect((await callTwelve()).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));

  expectOk(await own.admin.put(`${path}/policies/hooks.concurrency`, { kind: 'range', min: 1, max: 1 }));
  const results = await callTwelve();
  const busy = results.filter(({ status }) => status !== 200);
  expect(busy.length).toBeGreaterThan(0);
  expect(results.length - busy.length).toBeGreaterThanOrEqual(5);
  for (const response of busy) {
    expectError(response, 503, 'hook_busy');
    expect(response.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  }
});
