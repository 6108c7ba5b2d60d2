// The client's files and custom routes, in Node.
import { beforeAll, describe, expect, it } from 'vitest';
import { NotFoundError } from '../../../api/client/main.ts';
import { type OrdersApp, ordersApp } from './app.ts';

let app: OrdersApp;

beforeAll(async () => {
  app = await ordersApp();
});

describe('files', () => {
  it('are uploaded, linked, read and deleted', async () => {
    const { files } = app.client;
    const content = new Uint8Array(300_000).fill(7);
    const progress: [number, number][] = [];
    const file = new File([content], 'über 100%.bin', { type: 'application/x-test' });
    const stored = await files.upload(file, { onProgress: (sent, total) => progress.push([sent, total]) });
    expect(stored).toMatchObject({ mime: 'application/x-test', size: 300_000 });
    expect(stored.filename).toBe('über 100%.bin');
    expect(progress.length).toBeGreaterThan(1);
    expect(progress.at(-1)).toEqual([300_000, 300_000]);
    expect(await files.meta(stored.id)).toEqual(stored);
    expect(new Uint8Array(await (await files.download(stored.id)).arrayBuffer())).toEqual(content);
    const linked = await fetch(await files.link(stored.id, { expiresIn: 60 }));
    expect((await linked.arrayBuffer()).byteLength).toBe(300_000);
    await files.delete(stored.id);
    await expect(files.meta(stored.id)).rejects.toBeInstanceOf(NotFoundError);
    expect(await files.upload(new Blob(['x']))).toMatchObject({ filename: 'file', size: 1 });
  });
});

describe('custom routes', () => {
  it('have their parameters, query, body and response', async () => {
    const { client } = app;
    await client.collection('orders').create({ status: 'paid', total: 5 });
    await client.collection('orders').create({ status: 'paid', total: 7 });
    expect(await client.route('GET /totals/:status', { params: { status: 'paid' } })).toEqual({
      status: 'paid',
      total: 12,
    });
    const { total } = await client.route('GET /totals/:status', {
      params: { status: 'paid' },
      query: { least: 6 },
    });
    expect(total).toBe(7);
    const { text } = await client.route('POST /echo', { body: { text: 'é' } });
    expect(text).toBe('é');
    // @ts-expect-error there is no such route
    await expect(client.route('GET /none')).rejects.toBeInstanceOf(NotFoundError);
  });
});
