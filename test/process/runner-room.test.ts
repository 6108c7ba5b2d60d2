// As many apps with hooks as may have a runner, and more: each gets its turn.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const apps = '/api/workspaces/acme/apps';
const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

let server: TestServer;
let admin: Caller;

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, hooks: { max_runners: 2 } } });
  admin = (await openStorefront(server.url)).master;
});
afterAll(() => server.stop());

describe('more apps with hooks than there may be runners', () => {
  it('are loaded and answer, one after another and all at once', async () => {
    const source = `routerAdd('GET', '/hi', () => 'hi');`;
    for (const id of ids) {
      expectOk(await admin.post(apps, { id, name: id }));
      const { reload } = expectOk(await admin.put(`${apps}/${id}/hooks/hi.js`, { source }));
      expect(reload).toEqual({ loaded: ['hi.js'], errors: [] });
    }
    const ask = (id: string) => as(undefined, server.url).get(`${apps}/${id}/custom/hi`);
    for (const id of [...ids, ...ids]) expect((await ask(id)).body).toBe('hi');
    const together = await Promise.all(ids.map(ask));
    expect(together.map(({ status }) => status)).toEqual(ids.map(() => 200));
  });
});
