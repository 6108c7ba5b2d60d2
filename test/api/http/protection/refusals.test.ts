// Requests that are refused: what they cost a client that goes on, and the log.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusals } from '../../../../api/http/protection/refusals.ts';
import type { LogEvent } from '../../../../api/logging/events.ts';
import { as } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { sendRaw } from '../../../harness/raw-requests.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { rate_limit: { per_second: 0.001, burst: 20 } } });
});
afterAll(() => server.stop());

/** Lines of the log with this text, once there is one. */
const linesWith = (text: string) => server.output.filter((line) => line.includes(text));

describe('finding-7: an address that has had its requests', () => {
  it('gets 429 that the log has in one line a second, and loses its connections when it goes on', async () => {
    const caller = as(undefined, server.url);
    for (let count = 0; count < 20; count++) expect((await caller.get('/readyz')).status).toBe(200);
    const refused = await caller.get('/readyz', { 'X-Request-Id': 'refused-1' });
    expectError(refused, 429, 'too_many_requests');
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(refused.headers.get('Cache-Control')).toBe('no-store');
    expect(refused.headers.get('X-Request-Id')).toBe('refused-1');
    expect(JSON.parse(await server.line('requests_refused'))).toMatchObject({
      level: 'warn',
      client: '127.0.0.1',
      count: 1,
      statuses: [429],
    });
    expect(linesWith('"status":429')).toEqual([]);

    // More than ten in one second; the first ends when its line is written.
    const flood = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(12);
    const send = () => sendRaw(server.url, flood).then(({ text }) => text, () => '');
    let texts: string[] = [];
    for (let round = 0; round < 20 && !texts.includes(''); round++) {
      texts = await Promise.all(Array.from({ length: 6 }, send));
    }
    expect(texts).toContain('');
    const begun = linesWith('requests_refused').length;
    await expect.poll(() => linesWith('requests_refused').length).toBe(begun + 1);
    expect((await caller.get('/healthz')).status).toBe(200);
    expect(linesWith('"status":429')).toEqual([]);
  });

  it('still sees that the server is alive, by a bucket of its own', async () => {
    const caller = as(undefined, server.url);
    expect((await caller.get('/healthz')).status).toBe(200);
    expect((await caller.get('/readyz')).status).toBe(429);
    const statuses = new Set<number>();
    // Many at once: one after the other, a slow machine asks no faster than the bucket fills. Once it is empty, an address
    // that goes on has connections closed without a response.
    for (let round = 0; round < 20 && !statuses.has(429); round++) {
      const requests = Array.from({ length: 100 }, () => caller.get('/healthz'));
      for (const result of await Promise.allSettled(requests)) {
        if (result.status === 'fulfilled') statuses.add(result.value.status);
      }
    }
    expect(statuses).toEqual(new Set([200, 429]));
  });
});

describe('refusals', () => {
  it('are one line for each client and second, whatever they were', async () => {
    const lines: LogEvent[] = [];
    const ended = Promise.withResolvers<void>();
    const refusals = new Refusals((event) => {
      lines.push(event);
      ended.resolve();
    }, 50);
    for (let count = 0; count < 51; count++) refusals.add('192.0.2.1', count === 0 ? 400 : 429);
    refusals.add('2001:db8:1:2::1', 431);
    refusals.add('2001:db8:1:2::2', 431);
    expect(refusals.isFlooding('192.0.2.1')).toBe(true);
    expect(refusals.isFlooding('192.0.2.2')).toBe(false);
    await ended.promise;
    expect(lines).toEqual([
      { type: 'requests_refused', client: '192.0.2.1', count: 51, statuses: [400, 429] },
      { type: 'requests_refused', client: '2001:db8:1:2', count: 2, statuses: [431] },
    ]);
    expect(refusals.isFlooding('192.0.2.1')).toBe(false);
  });

  it('of more clients than a thousand in a second are one line for the others', async () => {
    const lines: LogEvent[] = [];
    const ended = Promise.withResolvers<void>();
    const refusals = new Refusals((event) => {
      lines.push(event);
      if (lines.length === 1_001) ended.resolve();
    }, 50);
    for (let at = 0; at < 1_500; at++) refusals.add(`10.0.${at >> 8}.${at & 255}`, 429);
    await ended.promise;
    expect(lines.at(-1)).toEqual({ type: 'requests_refused', client: 'others', count: 500, statuses: [429] });
  });
});
