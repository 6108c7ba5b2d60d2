// The log of hooks, as it is written.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { as, expectOk, type OwnApp, ownWorkspace, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { tokenOf } from '../../../harness/watched.ts';
import { openEvents } from '../../realtime/event-client.ts';

let app: OwnApp;

beforeAll(async () => {
  app = await (await ownWorkspace()).app();
  const source = `
    routerAdd('POST', '/log', async (e) => { console.warn('said', await e.request.text()); });
    routerAdd('POST', '/flood', () => {
      for (let line = 0; line < 5_000; line++) $app.log.info('x'.repeat(1_000));
    });`;
  expectOk(await app.admin.put(`${app.path}/hooks/world.js`, { source }));
});

describe('the log of hooks', () => {
  it('is shown live to who follows it, and to no one else', async () => {
    const port = Number(new URL(serverUrl()).port);
    const path = `${app.path}/hooks/logs?follow=true`;
    const reader = await openEvents(port, { path, token: tokenOf(app.admin) });
    await as().post(`${app.path}/custom/log`, { line: 1 });
    await reader.until(({ events }) => events.some(({ data }) => JSON.stringify(data).includes('said')));
    expect(reader.events.at(-1)).toMatchObject({
      event: 'log',
      data: {
        level: 'warn',
        message: 'said {"line":1}',
        file: 'world.js',
        request_id: expect.any(String),
        ts: expect.stringMatching(/Z$/),
      },
    });
    reader.socket.destroy();
    const stranger = await openEvents(port, { path });
    expect(stranger.status).toBe(401);
    stranger.socket.destroy();
  });

  it('ends for readers of an app that is deleted, also where one of its id comes after it', async () => {
    const own = await ownWorkspace();
    const port = Number(new URL(serverUrl()).port);
    const readers = [];
    for (const id of ['gone', 'again']) {
      const { path } = await own.app(id);
      readers.push(
        await openEvents(port, { path: `${path}/hooks/logs?follow=true`, token: tokenOf(own.admin) }),
      );
      expectOk(await own.admin.delete(path));
    }
    await own.app('again');
    for (const reader of readers) {
      expect(reader.status).toBe(200);
      await reader.closed;
    }
  });

  it('ends for who may not read it any more', async () => {
    const own = await ownWorkspace();
    const { id, path } = await own.app();
    const guest = await own.login([id]);
    const port = Number(new URL(serverUrl()).port);
    const reader = await openEvents(port, { path: `${path}/hooks/logs?follow=true`, token: tokenOf(guest) });
    expect(reader.status).toBe(200);
    expectOk(await own.master.delete(`${own.path}/admins/${guest.id}`));
    await reader.closed;
    expect(reader.events.at(-1)).toMatchObject({ event: 'unauthorized' });
  });

  it('is shown live to 32 readers, who make room when they go', async () => {
    const port = Number(new URL(serverUrl()).port);
    const open = () =>
      openEvents(port, { path: `${app.path}/hooks/logs?follow=true`, token: tokenOf(app.admin) });
    const readers = [];
    for (let count = 0; count < 32; count++) readers.push(await open());
    expect(readers.map(({ status }) => status)).toEqual(Array(32).fill(200));
    const refused = await app.admin.get(`${app.path}/hooks/logs?follow=true`);
    expectError(refused, 429, 'too_many_requests');
    expect(refused.headers.get('retry-after')).toBe('10');
    expectOk(await app.admin.get(`${app.path}/hooks/logs`));
    for (const { socket } of readers) socket.destroy();
    await vi.waitFor(async () => {
      const next = await open();
      next.socket.destroy();
      expect(next.status).toBe(200);
    }, { timeout: 10_000 });
  });

  it('hook.log-flood: keeps the newest of what it takes, and says what is lost', async () => {
    // A run that writes faster than it is read loses lines before they are sent.
    const page = await vi.waitFor(async () => {
      expectOk(await as().post(`${app.path}/custom/flood`));
      const newest = await app.admin.get(`${app.path}/hooks/logs?per_page=200`);
      expect(expectOk(newest).items[0].message).toContain('more than 1 MiB of log in a minute');
      return newest;
    }, { timeout: 20_000, interval: 20 });
    expect(Buffer.byteLength(page.text)).toBeLessThan(300_000);
    expect(expectOk(page).total_items).toBeLessThanOrEqual(1_000);
    expect(page.body.items.at(-1).message).toBe('x'.repeat(1_000));
  });
});
