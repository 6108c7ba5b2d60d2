// What the client watches: changes, lists that stay right, connections that are cut, and servers without WebSocket.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Change, createClient, f, ForbiddenError } from '../../../api/client/main.ts';
import { serverUrl } from '../../harness/api.ts';
import { type OrdersApp, ordersApp } from './app.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import type { OrdersRecord, Types } from './types.ts';

let app: OrdersApp;
let proxy: CuttingProxy;
const open: { close(): void }[] = [];

beforeAll(async () => {
  app = await ordersApp();
  proxy = await startCuttingProxy(serverUrl());
});

afterEach(() => {
  vi.unstubAllGlobals();
  for (const each of open.splice(0)) each.close();
});

afterAll(() => proxy.close());

const clientAt = (url: string, token = app.admin.token) =>
  createClient<Types>(url, { workspace: app.workspace.id, app: app.app.id, token });

/** Watches, and collects what comes. */
async function seen(filter: ReturnType<typeof f>, since?: string) {
  const changes: Change<OrdersRecord>[] = [];
  const watching = clientAt(proxy.url).collection('orders').watch(
    filter,
    { since },
    (change) => changes.push(change),
  );
  open.push(watching);
  await watching.ready;
  return { changes, watching };
}

const titles = (changes: readonly Change<OrdersRecord>[]) =>
  changes.map((change) => 'record' in change ? change.record.fields.title : change.event);

describe.each(['WebSocket', 'Server-Sent Events'])('a watch by %s', (kind) => {
  const without = () =>
    kind === 'WebSocket' || vi.stubGlobal(
      'WebSocket',
      class {
        constructor() {
          throw new Error('blocked');
        }
      },
    );

  it('gets the changes that pass its filter, in order', async () => {
    without();
    const sku = crypto.randomUUID();
    const { changes } = await seen(f`sku = ${sku}`);
    const orders = app.client.collection('orders');
    const { id } = await orders.create({ sku, title: 'a' });
    await orders.create({ title: 'another' });
    await orders.update(id, { title: 'b' });
    await orders.delete(id);
    await expect.poll(() => changes.length).toBe(3);
    expect(changes.map(({ event }) => event)).toEqual(['record_created', 'record_updated', 'record_deleted']);
    expect(titles(changes)).toEqual(['a', 'b', 'b']);
  });

  it('gets each change once, also those from while it was cut', async () => {
    without();
    const sku = crypto.randomUUID();
    const { changes, watching } = await seen(f`sku = ${sku}`);
    const { id } = await app.client.collection('orders').create({ sku, title: '0' });
    for (let step = 1; step <= 20; step++) {
      if (step % 4 === 0) proxy.cut();
      await app.client.collection('orders').update(id, { title: String(step) });
    }
    const expected = Array.from({ length: 21 }, (_, step) => String(step));
    await expect.poll(() => titles(changes)).toEqual(expected);
    const later = await seen(f`sku = ${sku}`, changes[17]?.cursor);
    await expect.poll(() => titles(later.changes)).toEqual(['18', '19', '20']);
    expect(watching.cursor).toBe(changes.at(-1)?.cursor);
  });

  it('says that changes were missed', async () => {
    without();
    const { changes } = await seen(f`sku = ${'none'}`, 'AAAAAAAAAAAAAAAAAAAAAA');
    await expect.poll(() => changes.map(({ event }) => event)).toEqual(['reset']);
  });

  it('says that it is refused', async () => {
    without();
    const user = await app.user();
    const errors: unknown[] = [];
    const client = clientAt(serverUrl(), user.token);
    const watching = client.collection('customers').watch(
      '',
      { onError: (error) => errors.push(error) },
      () => 0,
    );
    await expect(watching.ready).rejects.toThrow();
    expect(errors).toMatchObject([{ code: 'forbidden' }]);
    if (kind !== 'WebSocket') expect(errors[0]).toBeInstanceOf(ForbiddenError);
  });
});

describe('a list that stays right', () => {
  it('follows records into its filter and out of it, in its order', async () => {
    const status = 'paid';
    const mark = crypto.randomUUID();
    const query = { filter: f`status = ${status} && title ~ ${mark}`, sort: '-total' } as const;
    const live = clientAt(proxy.url).collection('orders').live(query);
    open.push(live);
    await live.ready;
    expect(live.items).toEqual([]);
    const orders = app.client.collection('orders');
    const made = [];
    for (let total = 0; total < 12; total++) {
      made.push(
        await orders.create({ title: `${mark} ${total}`, total, status: total % 2 ? 'open' : 'paid' }),
      );
      if (total % 4 === 0) proxy.cut();
    }
    await Promise.all(
      made.map(({ id }, index) =>
        index % 3 === 0 ? orders.delete(id) : orders.update(id, { status: index % 4 === 1 ? 'paid' : 'open' })
      ),
    );
    const { items } = await orders.list(query);
    expect(items.length).toBeGreaterThan(1);
    await expect.poll(() => live.items).toEqual(items);
    expect(live.error).toBeUndefined();
  });
});
