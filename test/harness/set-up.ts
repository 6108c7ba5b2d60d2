// A server of a test's own, set up, with a place for records.
import { expect, vi } from 'vitest';
import { as, type Caller, expectOk } from './api.ts';

/** The master's, of every server that is set up here. */
export const masterPassword = '1 password of the master';

/** Sets a new server up; its master, logged in. */
export async function setUp(url: string): Promise<Caller> {
  const anyone = as(undefined, url);
  expectOk(await anyone.post('/_/setup', { password: masterPassword }));
  // Of several processes, those that did not answer that hear of it within 300 ms. So many connections are of all of them.
  await vi.waitFor(async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => anyone.get('/_/auth/jwks.json')));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
  }, { timeout: 20_000, interval: 100 });
  return await logInMaster(url);
}

/** The master of such a server, logged in anew. */
export async function logInMaster(url: string): Promise<Caller> {
  const credentials = { username: 'admin', password: masterPassword };
  const session = await as(undefined, url).post('/_/auth/admin/login', credentials);
  return as(String(expectOk(session).access_token), url);
}

/** Makes the workspace `acme` and its app `shop`; the path of the app. */
export async function makeShop(master: Caller): Promise<string> {
  expectOk(await master.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await master.post('/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
  return '/api/workspaces/acme/apps/shop';
}

/** Permits jobs of every second, on all of the server: tests do not wait for minutes. */
export async function permitFrequentJobs(master: Caller): Promise<void> {
  const everySecond = { kind: 'range', min: 1, max: 86_400 };
  expectOk(await master.put('/api/system/policies/hooks.cron_min_sec', everySecond));
}
