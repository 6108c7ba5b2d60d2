// What many logins at once cost the rest of the server: on a server of its own, so that its memory is its own.
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool } from '../../../../storage/connections/pool.ts';
import { type ApiResponse, as, expectOk } from '../../../harness/api.ts';
import { endpointOf } from '../../../harness/database.ts';
import { outdatedHash } from '../../../harness/outdated-hash.ts';
import { isApi, processTree, residentMemory } from '../../../harness/processes.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { howManyWait } from '../../../harness/waiting.ts';

const password = 'a password of the test';
let server: TestServer;
let token: string;
let apiPid: number;

beforeAll(async () => {
  server = await startServer({ config: { rate_limit: { per_second: 100_000, burst: 100_000 } } });
  expectOk(await as(undefined, server.url).post('/_/setup', { password }));
  token = expectOk(await login('admin')).access_token;
  apiPid = (await processTree(server.pid)).find(isApi)?.pid ?? 0;
});
afterAll(() => server.stop());

async function login(username: string): Promise<ApiResponse> {
  return await as(undefined, server.url).post('/_/auth/admin/login', { username, password });
}

/** Requests one after another until told to stop; their times in milliseconds, sorted. */
function probe(path: string): () => Promise<number[]> {
  const times: number[] = [];
  let going = true;
  const done = (async () => {
    while (going) {
      const start = performance.now();
      expectOk(await as(token, server.url).get(path));
      times.push(performance.now() - start);
    }
  })();
  return async () => {
    going = false;
    await done;
    return times.sort((a, b) => a - b);
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function peakOf(work: Promise<unknown>): Promise<number> {
  let peak = 0;
  let going = true;
  const watching = (async () => {
    while (going) {
      peak = Math.max(peak, await residentMemory(apiPid));
      await pause(20);
    }
  })();
  await work;
  going = false;
  await watching;
  return peak;
}

describe('auth.argon2-budget', () => {
  it(
    '200 logins at once take bounded memory, are answered or turned away, and leave other requests alone',
    async () => {
      const stopCalm = probe('/api/workspaces');
      await pause(1_000);
      const calm = await stopCalm();
      const before = await residentMemory(apiPid);

      const stopBusy = probe('/api/workspaces');
      const logins = Promise.all(Array.from({ length: 200 }, () => login('admin')));
      const peak = await peakOf(logins);
      const responses = await logins;
      const busy = await stopBusy();

      const seen = new Map<number, number>();
      for (const { status } of responses) seen.set(status, (seen.get(status) ?? 0) + 1);
      const figures = {
        responses: Object.fromEntries(seen),
        rssBefore: Math.round(before),
        rssPeak: Math.round(peak),
        calm: { p50: quantile(calm, 0.5), p99: quantile(calm, 0.99) },
        busy: { requests: busy.length, p50: quantile(busy, 0.5), p99: quantile(busy, 0.99) },
      };
      console.log(JSON.stringify(figures));

      expect([...seen.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(seen.get(200)).toBeGreaterThan(0);
      const turnedAway = responses.filter(({ status }) => status === 503);
      expect(turnedAway.length).toBeGreaterThan(0);
      for (const { headers } of turnedAway) {
        expect(Number(headers.get('Retry-After')))
          .toBeGreaterThanOrEqual(1);
      }
      // A thread: its own heap and code, and the memory of one hash.
      expect(peak - before).toBeLessThan(availableParallelism() * (20 + 19) + 60);
      expect(quantile(busy, 0.5)).toBeLessThan(50);
    },
    60_000,
  );

  it('logins of a workspace hold up neither those of another nor those of masters', async () => {
    const root = as(token, server.url);
    const [flooded, other] = ['flooded', 'other'];
    for (const id of [flooded, other]) expectOk(await root.post('/api/workspaces', { id, name: id }));
    const user = { email: 'user@example.com', password };
    expectOk(await root.post(`/api/workspaces/${other}/auth/users/register`, user));
    const logInTo = (id: string, body: object) =>
      as(undefined, server.url).post(`/api/workspaces/${id}/auth/users/login`, body);
    const flood = Array.from(
      { length: 300 },
      (_, index) => logInTo(flooded, { email: `nobody${index}@example.com`, password }),
    );
    // The line is full.
    await Promise.race(flood);
    const others = [...Array.from({ length: 5 }, () => logInTo(other, user)), login('admin')];
    const responses = await Promise.all(others);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const seen = new Set((await Promise.all(flood)).map(({ status }) => status));
    expect([...seen].toSorted()).toEqual([401, 503]);
  }, 60_000);

  it('a login with an outdated hash is answered, even when the line is full for the new one', async () => {
    const control = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
      cap: 1,
      permits: unlimitedPermits,
      now: Date.now,
    });
    const hash = outdatedHash(password);
    await control.run((sql) => sql`update control.master_admins set password_hash = ${hash}`);
    const { answering, flood } = await control.transaction(async (sql) => {
      await sql`lock table control.sessions in share mode`;
      const answering = login('admin');
      await expect.poll(() => howManyWait(sql), { timeout: 10_000 }).toBe(1);
      const flood = Array.from({ length: 300 }, (_, index) => login(`nobody${index}`));
      // The line is full.
      await Promise.race(flood);
      return { answering, flood };
    }).finally(() => control.end());
    expectOk(await answering);
    await Promise.all(flood);
  }, 60_000);

  it('the threads end when nobody logs in', async () => {
    const threads = async () => (await readdir(`/proc/${apiPid}/task`)).length;
    expectOk(await login('admin'));
    const busy = await threads();
    await expect.poll(threads, { timeout: 15_000, interval: 200 }).toBeLessThan(busy);
  }, 30_000);
});
