// The client's records: every operation, against the server.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ConflictError,
  ConnectionError,
  createClient,
  f,
  ForbiddenError,
  NotFoundError,
  UnauthorizedError,
  ValidationError,
} from '../../../api/client/main.ts';
import { serverUrl } from '../../harness/api.ts';
import { type OrdersApp, ordersApp } from './app.ts';

let app: OrdersApp;

beforeAll(async () => {
  app = await ordersApp();
});

const orders = () => app.client.collection('orders');
const thrownBy = (work: Promise<unknown>) => work.then(() => undefined, (error: unknown) => error);

describe('records', () => {
  it('are created, read, changed and deleted', async () => {
    const made = await orders().create({ title: 'Tea', total: 12.5, status: 'open' });
    expect(made).toMatchObject({
      collection: 'orders',
      fields: { title: 'Tea', total: 12.5, status: 'open' },
    });
    expect(await orders().get(made.id)).toEqual(made);
    expect((await orders().update(made.id, { 'total+': 1 })).fields.total).toBe(13.5);
    expect(await orders().delete(made.id)).toBeUndefined();
    expect(await thrownBy(orders().get(made.id))).toBeInstanceOf(NotFoundError);
  });

  it('are created once, and updated from then on', async () => {
    const made = await orders().upsert({ sku: 'milk', title: 'Milk' }, { on: 'sku' });
    const again = await orders().upsert({ sku: 'milk', title: 'Oat milk' }, { on: ['sku'] });
    expect(again).toMatchObject({ id: made.id, fields: { title: 'Oat milk' } });
  });

  it('are listed by filter, order, fields and relations', async () => {
    const { id: customer } = await app.client.collection('customers').create({ name: 'Ada' });
    for (const [title, total] of [['Juice', 1], ['Coffee', 80]] as const) {
      await orders().create({ title, total, customer });
    }
    const { items, total_items } = await orders().list({
      filter: f`customer = ${customer} && total > ${0}`,
      sort: ['-total', 'title'],
      fields: ['title'],
      expand: ['customer'],
    });
    expect(total_items).toBe(2);
    expect(items.map(({ fields, expand }) => [fields, expand.customer?.fields.name])).toEqual([
      [{ title: 'Coffee' }, 'Ada'],
      [{ title: 'Juice' }, 'Ada'],
    ]);
    const { expand } = await app.client.collection('customers').get(customer, {
      expand: ['orders_via_customer.customer'],
    });
    expect(expand.orders_via_customer.map((order) => order.expand.customer?.id)).toEqual([
      customer,
      customer,
    ]);
  });

  it('come page by page, each once', async () => {
    await app.client.batch((to) => Array.from({ length: 25 }, () => to('orders').create({ title: 'page' })));
    const seen: string[] = [];
    for await (const { items } of orders().pages({ filter: f`title = ${'page'}`, per_page: 10 })) {
      seen.push(...items.map(({ id }) => id));
      if (seen.length === 10) await orders().delete(seen[0] ?? '');
    }
    expect(new Set(seen).size).toBe(25);
    expect(seen).toHaveLength(25);
  });

  it('are written together, or not at all', async () => {
    const [made, gone] = await app.client.batch((to) => [
      to('orders').create({ title: 'Batch', total: 3 }),
      to('customers').delete(customerId),
    ]);
    expect(made.fields.title).toBe('Batch');
    expect(gone).toBeUndefined();
    const error = await thrownBy(app.client.batch((to) => [
      to('orders').update(made.id, { title: 'Changed' }),
      to('orders').create({ total: -1 }),
    ]));
    expect(error).toMatchObject({ errors: [{ path: 'requests.1.body.total', code: 'invalid' }] });
    expect((await orders().get(made.id)).fields.title).toBe('Batch');
  });

  let customerId: string;
  beforeAll(async () => {
    ({ id: customerId } = await app.client.collection('customers').create({ name: 'Eve' }));
  });

  it('are added up', async () => {
    await orders().create({ title: 'sum', status: 'paid', total: 0.1 });
    await orders().create({ title: 'sum', status: 'paid', total: 0.2 });
    const sums = await orders().aggregate({
      fn: ['count', 'sum(total)', 'min(title)'],
      group: ['status'],
      filter: f`title = ${'sum'}`,
    });
    expect(sums).toEqual([{ group: { status: 'paid' }, count: 2, 'sum(total)': 0.3, 'min(title)': 'sum' }]);
    const [first] = sums;
    expect(first?.['sum(total)']?.toFixed(1)).toBe('0.3');
  });

  it('are searched, the best first', async () => {
    await orders().create({ title: 'Darjeeling first flush' });
    const { items } = await orders().search('darjeel');
    expect(items.map(({ fields }) => fields.title)).toEqual(['Darjeeling first flush']);
  });
});

describe('values in a filter', () => {
  it.each([`it's`, 'a\\', `\\' || title != '`, '"', 'tea ) || (1', 'line\nbreak', '%', '100%', '\\%', 'é'])(
    'cannot be syntax: %j',
    async (text) => {
      const { id } = await orders().create({ title: `<${text}>` });
      const titles = async (filter: ReturnType<typeof f>) =>
        (await orders().list({ filter })).items.map(({ fields }) => fields.title);
      expect(await titles(f`title = ${`<${text}>`} && id = ${id}`)).toEqual([`<${text}>`]);
      expect(await titles(f`title ~ ${text} && id = ${id}`)).toEqual([`<${text}>`]);
      expect(await titles(f`title ~ ${`${text}%x`} && id = ${id}`)).toEqual([]);
      expect(await titles(f`title in ${[text, `<${text}>`]} && id = ${id}`)).toEqual([`<${text}>`]);
    },
  );

  it('are numbers, truth values, times, nothing, and other filters', async () => {
    const { id } = await orders().create({ title: 'values', total: 1.5 });
    const soon = new Date(Date.now() + 60_000);
    const either = f`total = ${1.5} || total = ${2}`;
    const filter = f`${either} && created_at < ${soon} && status = ${null} && id = ${id}`;
    expect((await orders().list({ filter })).total_items).toBe(1);
    expect(String(f`a = ${true} && b in ${[1, 'x']}`)).toBe(`a = true && b in [1, 'x']`);
  });
});

describe('errors', () => {
  it('have the class of their status, and say which member is wrong', async () => {
    const error = await thrownBy(orders().create({ total: -1, title: 'x' }));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ name: 'ValidationError', status: 400, code: 'validation' });
    if (!(error instanceof ValidationError)) return;
    expect(error.at('total')).toBe('must be at least 0');
    expect(error.at('title')).toBeUndefined();
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tell what exists, what is refused, and who is nobody', async () => {
    await orders().create({ sku: 'one' });
    expect(await thrownBy(orders().create({ sku: 'one' }))).toBeInstanceOf(ConflictError);
    const place = { workspace: app.workspace.id, app: app.app.id };
    const user = createClient(serverUrl(), { ...place, token: (await app.user()).token });
    expect(await thrownBy(user.collection('orders').create({}))).toBeInstanceOf(ForbiddenError);
    const nobody = createClient(serverUrl(), place);
    expect(await thrownBy(nobody.collection('orders').list())).toBeInstanceOf(UnauthorizedError);
  });

  it('tell what was no response', async () => {
    const away = createClient('http://127.0.0.1:1', { workspace: 'a', app: 'b' });
    expect(await thrownBy(away.collection('orders').list())).toBeInstanceOf(ConnectionError);
    const aborted = orders().list({ signal: AbortSignal.abort(new Error('not wanted')) });
    expect(await thrownBy(aborted)).toMatchObject({ message: 'not wanted' });
  });

  it('come from what no API has written, too', async () => {
    const fetch = () => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502 }));
    const behind = createClient('http://proxy', { workspace: 'a', app: 'b', fetch });
    expect(await thrownBy(behind.collection('orders').list())).toMatchObject({
      name: 'BulkheadError',
      status: 502,
      code: 'internal',
    });
  });
});
