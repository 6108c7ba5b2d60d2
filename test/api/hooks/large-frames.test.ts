// Many large bodies and records at once: more than a runner has read, and more than it could hold.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { type HookedApp, hookedApp } from '../../harness/hooked-app.ts';

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
`;

let app: HookedApp;

beforeAll(async () => {
  app = await hookedApp(await ownWorkspace(), source);
});

const upload = (bytes: number) =>
  fetch(`${serverUrl()}${app.path}/custom/size`, { method: 'POST', body: new Uint8Array(bytes).fill(65) });

const together = <Result>(count: number, work: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, work));

async function lastKill(): Promise<unknown> {
  return expectOk(await app.admin.get(`${app.path}/hooks/status`)).last_kill;
}

describe('hooks with large frames', () => {
  it('have many large bodies at once go to a route, whoever sends them, and keep their process', async () => {
    const answers = await together(24, async () => {
      const response = await upload(4_000_000);
      return [response.status, await response.text()];
    });
    expect(answers).toEqual(Array(24).fill([200, '4000000']));
    expect(await lastKill()).toBe(null);
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
