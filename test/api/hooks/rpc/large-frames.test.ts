// Many large bodies and records at once: more than a runner has read, and more than it could hold.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, ownWorkspace, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type HookedApp, hookedApp } from '../../../harness/hooked-app.ts';

const source = `
routerAdd('POST', '/size', async (e) => (await e.request.arrayBuffer()).byteLength);
routerAdd('GET', '/titles', async () => {
  const page = await $app.records.list('posts', { per_page: 1 });
  return page.items[0].fields.title.length;
});
onRecordBeforeCreate('posts', (e) => { e.record.fields.count = e.record.fields.title?.length; });
onRecordAfterCreate('seen', async (e) => {
  await Promise.all(Array.from({ length: 9 }, () => $app.records.create('comments', { text: e.record.fields.what })));
});
onRecordBeforeCreate('comments', () => {});
onRecordBeforeUpdate('posts', () => {});
routerAdd('POST', '/again', async (e) => {
  const { id } = await $app.files.create({ filename: 'x.bin', content: new Uint8Array(150_000) });
  const { bytes } = await $app.files.get(id);
  return new Response(new Uint8Array([...bytes, ...bytes]));
});
`;

let app: HookedApp;

beforeAll(async () => {
  app = await hookedApp(await ownWorkspace(), source);
  // Nothing here is about time, of which a busy machine takes much for so many bytes.
  const spec = { kind: 'range', min: 30_000, max: 30_000 };
  expectOk(await app.admin.put(`${app.path}/policies/hooks.timeout_ms`, spec));
});

const upload = (bytes: number, letter = 65) =>
  fetch(`${serverUrl()}${app.path}/custom/size`, {
    method: 'POST',
    body: new Uint8Array(bytes).fill(letter),
  });

const together = <Result>(count: number, work: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, work));

async function lastKill(): Promise<unknown> {
  return expectOk(await app.admin.get(`${app.path}/hooks/status`)).last_kill;
}

describe('hooks with large frames', () => {
  it('have many large bodies at once go to a route, whoever sends them, and keep their process', async () => {
    const responses = await together(24, async () => {
      const response = await upload(4_000_000);
      return [response.status, await response.text()];
    });
    expect(responses).toEqual(Array(24).fill([200, '4000000']));
    expect(await lastKill()).toBe(null);
  });

  it.each([['zeros', 0], ['quotes', 34], ['bytes', 255]])(
    'take the largest body, of %s, which JSON makes longer',
    async (_, letter) => {
      const response = await upload(8_388_608, letter);
      expect([response.status, await response.text()]).toEqual([200, '8388608']);
      expect(await lastKill()).toBe(null);
    },
  );

  it('take no larger one, whether its length was announced or not', async () => {
    const large = new Uint8Array(8_388_609);
    const unannounced = () => new Blob([large]).stream();
    for (const body of [large, unannounced()]) {
      const init = { method: 'POST', body, duplex: 'half' } as const;
      const response = await fetch(`${serverUrl()}${app.path}/custom/size`, init);
      expect([response.status, await response.text()]).toEqual([
        413,
        expect.stringContaining('payload_too_large'),
      ]);
    }
  });

  it('write and read files of zeros, and answer them', async () => {
    const response = await fetch(`${serverUrl()}${app.path}/custom/again`, { method: 'POST' });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.alloc(300_000));
  });

  it('are not asked about more than they take: a record and what it was', async () => {
    const { admin } = app;
    const { id } = expectOk(await admin.post(app.records('posts'), { title: 'x'.repeat(6_000_000) }));
    const path = `${app.records('posts')}/${id}`;
    const meta = 'y'.repeat(6_000_000);
    expectError(await admin.patch(path, { meta }), 413, 'payload_too_large');
    expect(expectOk(await admin.get(path)).fields.meta).toBe(null);
    expectOk(await admin.patch(path, { meta: 'short' }));
    expect(expectOk(await admin.get(`${app.path}/hooks/status`))).toMatchObject({
      in_flight: 0,
      last_kill: null,
    });
    expectOk(await admin.delete(path));
  });

  it('have many large records at once go past them', async () => {
    const records = app.records('posts');
    const created = await together(10, () => app.admin.post(records, { title: 'x'.repeat(1_500_000) }));
    expect(created.map(({ status, body }) => [status, body.fields?.count]))
      .toEqual(Array(10).fill([201, 1_500_000]));
    const read = await together(12, () => app.admin.get(`${app.path}/custom/titles`));
    expect(read.map(({ body }) => body)).toEqual(Array(12).fill(1_500_000));
    expect(await lastKill()).toBe(null);
  });

  it('cause many large writes that hooks run for', async () => {
    await together(
      6,
      async () => expectOk(await app.admin.post(app.records('seen'), { what: 'x'.repeat(200_000) })),
    );
    const list = expectOk(await app.admin.get(`${app.records('comments')}?per_page=1`));
    expect(list.total_items).toBe(54);
    expect(await lastKill()).toBe(null);
  });
});
