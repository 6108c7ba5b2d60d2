// Answers of custom routes that come for longer than a call may take, or are larger than a response may be.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, ownWorkspace, serverUrl } from '../../../harness/api.ts';
import { type HookedApp, hookedApp } from '../../../harness/hooked-app.ts';

const source = `
onRecordBeforeCreate('posts', () => {});
routerAdd('GET', '/counts', () => {
  let piece = 0;
  return new Response(new ReadableStream({ async pull(controller) {
    if (piece++ === 5) return controller.close();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await $app.records.create('posts', {});
    const { total_items } = await $app.records.list('posts');
    controller.enqueue(new TextEncoder().encode(total_items + ' '));
  } }));
});
routerAdd('GET', '/late', () => new Response(new ReadableStream({ async pull(controller) {
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  controller.enqueue(new TextEncoder().encode('late'));
  controller.close();
} })));
routerAdd('GET', '/regretted', () => new Response(new ReadableStream({ async pull(controller) {
  controller.enqueue(new Uint8Array(100_000));
  await $app.records.list('posts');
  throw new HttpError(404, 'no_post', 'there is no such post');
} })));
const mebibyte = new Uint8Array(1_048_576).fill(65);
routerAdd('GET', '/mebibytes/:count', (e) => {
  let count = Number(e.params.count);
  return new Response(new ReadableStream({ pull(controller) {
    if (count-- === 0) return controller.close();
    controller.enqueue(mebibyte);
  } }));
});
`;

let app: HookedApp;

beforeAll(async () => {
  app = await hookedApp(await ownWorkspace(), source);
});

const get = (path: string) => fetch(`${serverUrl()}${app.path}/custom${path}`);

describe('a response that streams', () => {
  it('may call $app, and so other hooks, for as long as it comes, longer than a call may take', async () => {
    const policy = `${app.path}/policies/hooks.timeout_ms`;
    expectOk(await app.admin.put(policy, { kind: 'range', min: 1, max: 400 }));
    const began = performance.now();
    const response = await get('/counts');
    expect(await response.text()).toBe('1 2 3 4 5 ');
    expect(performance.now() - began).toBeGreaterThan(700);
    expectOk(await app.admin.delete(policy));
  });

  it('may begin later than a call may take', async () => {
    const policy = `${app.path}/policies/hooks.timeout_ms`;
    expectOk(await app.admin.put(policy, { kind: 'range', min: 1, max: 1_000 }));
    const response = await get('/late');
    expect([response.status, await response.text()]).toEqual([200, 'late']);
    expectOk(await app.admin.delete(policy));
  });

  it('is cut off by an error that comes too late to be the response, of which the log tells', async () => {
    const response = await get('/regretted');
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer().then(({ byteLength }) => byteLength)).rejects.toThrow('terminated');
    const { items } = expectOk(await app.admin.get(`${app.path}/hooks/logs`));
    const message =
      'GET /regretted: the response had begun when it came to 404 no_post: there is no such post';
    expect(items[0]).toMatchObject({ level: 'error', message, file: 'hooks.ts' });
  });

  it('has 64 MiB, and is cut off where it has more', { timeout: 60_000 }, async () => {
    const whole = await get('/mebibytes/64');
    expect((await whole.arrayBuffer()).byteLength).toBe(67_108_864);
    const long = await get('/mebibytes/65');
    await expect(long.arrayBuffer().then(({ byteLength }) => byteLength)).rejects.toThrow('terminated');
    const { items } = expectOk(await app.admin.get(`${app.path}/hooks/logs`));
    const message = 'GET /mebibytes/:count: the body of a response has more than 67108864 bytes';
    expect(items[0]).toMatchObject({ message, file: 'hooks.ts' });
    expect(expectOk(await app.admin.get(`${app.path}/hooks/status`))).toMatchObject({
      last_kill: null,
      in_flight: 0,
    });
  });
});
