// One of two API processes stands still while the other goes on: as it wakes, it must not allow what was forbidden meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isApi, processTree } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { logInMaster, setUp } from '../harness/set-up.ts';
import { unlimited } from '../harness/storefront.ts';

let server: TestServer;
/** Kept connections, of which the kernel has given each process some. */
let clients: Client[];

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, api: { workers: 2 } } });
  await setUp(server.url);
  clients = Array.from(
    { length: 40 },
    () => new Client(server.url, { pipelining: 10, headersTimeout: 60_000 }),
  );
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.destroy()));
  await server.stop();
});

async function statusOf(
  client: Client,
  method: 'GET' | 'POST',
  path: string,
  token: string,
): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const { statusCode, body } = await client.request({ method, path, headers });
  await body.dump();
  return statusCode;
}

it('refuses, as it wakes, a token that was revoked meanwhile', async () => {
  const { token = '' } = await logInMaster(server.url);
  const ask = (client: Client) => statusOf(client, 'GET', '/api/workspaces', token);
  expect(new Set(await Promise.all(clients.map(ask)))).toEqual(new Set([200]));
  const [, stopped] = (await processTree(server.pid)).filter(isApi);
  if (stopped === undefined) throw new Error('there is no second process of the API');
  process.kill(stopped.pid, 'SIGSTOP');
  let responses: Promise<number>[];
  try {
    const working = await Promise.any(clients.map((client) => ask(client).then(() => client)));
    expect(await statusOf(working, 'POST', '/_/auth/logout', token)).toBe(200);
    // Longer than a process may have heard nothing without asking.
    await pause(3_000);
    responses = clients.map(ask);
    // The connections of the one that goes on are answered: those of the other have the question by then.
    await Promise.any(responses);
  } finally {
    process.kill(stopped.pid, 'SIGCONT');
  }
  expect(new Set(await Promise.all(responses))).toEqual(new Set([401]));
});
