// Redirects of other servers: which ones are followed, and to where.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Egress } from '../../../api/egress/client.ts';
import { ask, testEgress } from '../../harness/egress.ts';

/** Where a path leads, and how. */
const leads: Record<string, [status: number, location: string]> = {
  '/301': [301, '/'],
  '/302': [302, '/'],
  '/303': [303, '/'],
  '/307': [307, '/'],
  '/308': [308, '/'],
  '/twice': [302, '/302'],
  '/thrice': [302, '/twice'],
  '/too-often': [302, '/thrice'],
  '/talkative': [302, '/'],
  '/metadata': [302, 'http://169.254.169.254/'],
  '/port': [302, 'http://127.0.0.1:1/'],
};
const seen: string[] = [];
let server: Server;
let origin: string;
let egress: Egress;

beforeAll(async () => {
  server = createServer(({ method, url = '' }, response) => {
    seen.push(`${method} ${url}`);
    const [status, location] = leads[url] ?? [200, undefined];
    response.writeHead(status, location === undefined ? {} : { Location: location });
    if (url !== '/talkative') response.end();
    else response.write('and another thing');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  egress = testEgress({ hosts: 'allow' });
});
beforeEach(() => {
  seen.length = 0;
});
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

it.each([301, 302, 303, 307, 308])('a %i is followed for reading only', async (status) => {
  for (const method of ['GET', 'HEAD']) {
    expect(await ask(egress, `${origin}/${status}`, { method })).toBe(200);
  }
  expect(seen).toEqual([`GET /${status}`, 'GET /', `HEAD /${status}`, 'HEAD /']);
  expect(await ask(egress, `${origin}/${status}`, { method: 'POST' })).toBe('redirected');
});

it('follows three, and returns the URL that responded', async () => {
  const response = await egress.send({ method: 'GET', url: new URL(`${origin}/thrice`), maxBytes: 1_000 });
  expect([response.status, response.url.href]).toEqual([200, `${origin}/`]);
  expect(await ask(egress, `${origin}/too-often`)).toBe('redirected');
});

it('refuses one to a URL that the caller does not allow', async () => {
  const permits = ({ pathname }: URL) => pathname === '/302';
  expect(await ask(egress, `${origin}/302`, { isAllowed: permits })).toBe('refused');
  expect(seen).toEqual(['GET /302']);
});

it.each(['/metadata', '/port'])('oauth.ssrf: %s leads nowhere', async (path) => {
  expect(await ask(egress, origin + path)).toBe('redirected');
});

it('reads no more of its body', async () => {
  const closed = once(server, 'request').then(([, response]) => once(response, 'close'));
  expect(await ask(egress, `${origin}/talkative`, { timeoutMs: 600_000 })).toBe(200);
  await closed;
});

it('returns it to a caller that follows none itself', async () => {
  expect(await ask(egress, `${origin}/metadata`, { redirects: 'manual' })).toBe(302);
});
