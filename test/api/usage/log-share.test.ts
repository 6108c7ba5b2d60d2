// The log of hooks that is kept for a workspace.
import { beforeAll, expect, it, vi } from 'vitest';
import { expectOk, type OwnApp, serverUrl } from '../../harness/api.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import { tokenOf } from '../../harness/watched.ts';
import { openEvents } from '../realtime/event-client.ts';

let own: Scenario;
let app: OwnApp;
beforeAll(async () => {
  const source = "routerAdd('POST', '/say', async (e) => console.log(await e.request.text()));";
  own = await scenario({ hooks: { 'say.js': source } });
  app = own.app;
});

const say = async (word: string) => expectOk(await app.admin.post(`${app.path}/custom/say`, word));
const kept = async () => {
  const { items } = expectOk(await app.admin.get(`${app.path}/hooks/logs`));
  return items.map(({ message }: { message: string }) => message);
};

it('quota.log_mb: what is over it is not kept, but shown to who follows', async () => {
  await say('before');
  expect(await kept()).toEqual(['before']);
  await own.setQuota('log_mb', 0, own.workspace.path);
  const port = Number(new URL(serverUrl()).port);
  const reader = await openEvents(port, {
    path: `${app.path}/hooks/logs?follow=true`,
    token: tokenOf(app.admin),
  });
  await say('after');
  await reader.until(({ events }) => events.some(({ data }) => JSON.stringify(data).includes('after')));
  reader.socket.destroy();
  await vi.waitFor(async () => expect(await kept()).toEqual([]));
});

it('is shown in the usage', async () => {
  expect(expectOk(await own.workspace.admin.get(`${own.workspace.path}/usage`)).quotas.log_mb).toBe(0);
});
