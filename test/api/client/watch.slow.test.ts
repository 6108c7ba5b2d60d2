// A watch whose connection is cut a thousand times while records change.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createClient, f } from '../../../api/client/main.ts';
import { serverUrl } from '../../harness/api.ts';
import { ordersApp } from './app.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import type { Types } from './types.ts';

const cuts = 1_000;

it(`no change is missed or doubled by ${cuts} cuts`, async () => {
  const app = await ordersApp();
  const proxy = await startCuttingProxy(serverUrl());
  const options = { workspace: app.workspace.id, app: app.app.id, token: app.admin.token };
  const titles: (string | null)[] = [];
  let resets = 0;
  const watching = createClient<Types>(proxy.url, options).collection('orders').watch(
    f`sku = ${'cut'}`,
    {},
    (change) => {
      if ('record' in change) titles.push(change.record.fields.title);
      else resets++;
    },
  );
  await watching.ready;
  const { id } = await app.client.collection('orders').create({ sku: 'cut', title: '0' });
  let written = 0;
  let isCutting = true;
  const writing = (async () => {
    while (isCutting) await app.client.collection('orders').update(id, { title: String(++written) });
  })();
  for (let done = 0; done < cuts;) {
    // From before the subscription is there to long after it.
    await pause(Math.random() * 150);
    if (proxy.cut() > 0) done++;
  }
  isCutting = false;
  await writing;
  await expect.poll(() => titles.length, { timeout: 60_000 }).toBe(written + 1);
  expect(titles).toEqual(Array.from({ length: written + 1 }, (_, index) => String(index)));
  expect(resets).toBe(0);
  watching.close();
  await proxy.close();
}, 1_800_000);
