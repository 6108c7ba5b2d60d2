// What a hook runner knows: nothing that hooks are not shown, and nothing of another app or of an earlier runner.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { processTree } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';
import { memoryHolds } from './memory.ts';

const workspace = '/api/workspaces/acme';
const shop = `${workspace}/apps/shop`;

describe('a hook runner', () => {
  let server: TestServer;
  let admin: Caller;
  beforeAll(async () => {
    server = await startServer({ config: unlimited });
    admin = (await openStorefront(server.url)).master;
  });
  afterAll(() => server.stop());

  const put = async (app: string, source: string) => {
    const { reload } = expectOk(await admin.put(`${app}/hooks/hooks.js`, { source }));
    expect(reload.errors).toEqual([]);
  };
  const get = async (path: string) => expectOk(await as(undefined, server.url).get(path));

  /** Process numbers of the runners that there are. */
  async function runners(): Promise<number[]> {
    const tree = await processTree(server.pid);
    return tree.filter(({ command }) => /^\S*\/deno run .*--deny-read/.test(command)).map(({ pid }) => pid);
  }

  /** What a user and a server have that hooks must not, after the user has done 100 requests that hooks run for. */
  async function workAsUser(): Promise<string[]> {
    const credentials = { email: 'anna@example.com', password: 'the secret words of Anna' };
    const anyone = as(undefined, server.url);
    expectOk(await anyone.post(`${workspace}/auth/users/register`, credentials));
    const session = expectOk(
      await anyone.post(`${workspace}/auth/users/login`, { ...credentials, app: 'shop' }),
    );
    const clientSecret = 'GOCSPX-the-secret-of-the-client';
    const provider = { client_id: 'an-id', client_secret: clientSecret };
    expectOk(await admin.put(`${workspace}/auth/oauth/providers/google`, provider));
    const user = as(session.access_token, server.url);
    const headers = { Cookie: `svc_at=${session.access_token}; svc_rt=${session.refresh_token}` };
    for (let n = 0; n < 50; n++) {
      expectOk(await user.get(`${shop}/custom/who`, headers));
      expectOk(await user.post(`${shop}/collections/orders/records`, { title: `needle ${n}` }));
    }
    const key = (await readFile(join(server.dataDir, 'master.key'), 'utf8')).trim();
    const { access_token, refresh_token } = session;
    const secrets = [credentials.password, String(access_token), String(refresh_token), clientSecret, key];
    return [...secrets, String(admin.token), '$argon2', 'postgres://', 'postgresql://', 'SCRAM-SHA-256'];
  }

  it('sandbox.no-secrets: has no password, hash, token, cookie, client secret or key in its memory', async () => {
    await put(
      shop,
      `onRecordBeforeCreate('orders', (e) => { e.record.fields.title += ' of ' + e.auth.email; });
      routerAdd('GET', '/who', async (e) => [e.auth, await $app.users.findOne(e.auth.id), [...e.request.headers]]);`,
    );
    expectOk(await admin.put(`${shop}/collections/orders/access_rules/create`, { template: 'any' }));
    const secrets = await workAsUser();
    const [pid, ...others] = await runners();
    expect(others).toEqual([]);
    const held = await memoryHolds(pid ?? 0, [...secrets, 'anna@example.com', 'needle 4']);
    // What hooks are shown is found, so the rest would be.
    expect(held.sort()).toEqual(['anna@example.com', 'needle 4']);
  });

  it('sandbox.cross-app-storage: finds nothing that another app, or its own earlier code, has kept', async () => {
    const bank = `${workspace}/apps/bank`;
    expectOk(await admin.post('/api/workspaces/acme/apps', { id: 'bank', name: 'Bank' }));
    const source = `
      const places = {
        global: { get: () => globalThis.kept, set: (value) => { globalThis.kept = value; } },
        prototype: { get: () => ({}).kept, set: (value) => { Object.prototype.kept = value; } },
        symbol: { get: () => Symbol.for('kept').kept, set: (value) => { Symbol.prototype.kept = value; } },
        url: { get: () => fetch(globalThis.url ?? 'blob:null/1').then((r) => r.text()).catch(() => undefined),
          set: (value) => { globalThis.url = URL.createObjectURL(new Blob([value])); } },
        local: { get: () => localStorage.getItem('kept'), set: (value) => localStorage.setItem('kept', value) },
        cache: { get: async () => (await (await caches.open('kept')).match('http://kept/'))?.text(),
          set: async (value) => (await caches.open('kept')).put('http://kept/', new Response(value)) },
      };
      const all = (run) => Promise.all(Object.entries(places).map(async ([name, place]) => {
        try { return [name, await run(place)]; } catch { return [name, undefined]; }
      }));
      routerAdd('GET', '/keep', () => all(({ set }) => set($app.id + ' was here')));
      routerAdd('GET', '/kept', async () => (await all(({ get }) => get())).filter(([, value]) => value !== undefined));`;
    await put(shop, source);
    await put(bank, source);
    await get(`${shop}/custom/keep`);
    const kept = await get(`${shop}/custom/kept`);
    expect(kept).toEqual([['global', 'shop was here'], ['prototype', 'shop was here'], [
      'symbol',
      'shop was here',
    ]]);
    expect(await get(`${bank}/custom/kept`)).toEqual([]);
    await put(shop, `${source}\n// anew`);
    expect(await get(`${shop}/custom/kept`)).toEqual([]);
  });
});
