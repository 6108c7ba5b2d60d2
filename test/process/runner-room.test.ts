// As many apps with hooks as may have a runner, and more: each gets its turn.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { as, type Caller, expectOk, patiently } from '../harness/api.ts';
import { type ServerSettings, startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const apps = '/api/workspaces/acme/apps';
const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

const source = `routerAdd('GET', '/hi', () => 'hi');`;
/** For a machine on which starting a server takes long. */
const timeout = 180_000;
let server: TestServer;
let admin: Caller;

afterEach(() => server.stop());

async function start(config: ServerSettings) {
  server = await startServer({ config: { ...unlimited, ...config } });
  admin = (await openStorefront(server.url)).master;
}

async function load(id: string) {
  expectOk(await admin.post(apps, { id, name: id }));
  // A slow machine may not have stopped another runner in time.
  await vi.waitFor(async () => {
    const { reload } = expectOk(await admin.put(`${apps}/${id}/hooks/hi.js`, { source }));
    expect(reload).toEqual({ loaded: ['hi.js'], errors: [] });
  }, { timeout: 30_000 });
}

/** On a connection of its own, which any process may get; again when it was told to come again. */
const ask = (id: string) =>
  patiently(() => as(undefined, server.url).get(`${apps}/${id}/custom/hi`, { Connection: 'close' }));

describe('more apps with hooks than there may be runners', () => {
  it('are loaded and answer, one after another and all at once', { timeout }, async () => {
    await start({ hooks: { max_runners: 2 } });
    for (const id of ids) await load(id);
    for (const id of [...ids, ...ids]) expect((await ask(id)).body).toBe('hi');
    const together = await Promise.all(ids.map(ask));
    expect(together.map(({ status }) => status)).toEqual(ids.map(() => 200));
  });

  it('answer in each of several API processes, whatever the others have in use', { timeout }, async () => {
    await start({ hooks: { max_runners: 4 }, api: { workers: 2 } });
    for (const id of ids) await load(id);
    for (const id of [...ids, ...ids, ...ids, ...ids]) expect((await ask(id)).body).toBe('hi');
  });
});
