// A reader of the log that does not read, and one whose log has ended: neither keeps its connection.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { LogEntry } from '../../../../api/hooks/logs/log.ts';
import { serveLog } from '../../../../api/hooks/logs/log-stream.ts';
import type { Principal } from '../../../../api/scope.ts';
import { type BareApp, bareApp } from '../../../harness/bare-app.ts';

const principal: Principal = { role: 'master_admin', id: 'a', jti: 'a', issuedAt: 0, expiresAt: Infinity };
const entry = {
  ts: '1970-01-01T00:00:00.000Z',
  level: 'info',
  file: null,
  request_id: null,
  fields: null,
} as const;
const longLine: LogEntry = { ...entry, message: 'x'.repeat(65_536) };

let server: Server;
let reader: Socket;
let bare: BareApp;
let response: ServerResponse;
/** Tells the reader a line. */
let tell: (entry: LogEntry) => void;
let isFollowed = false;
/** What is left of the principal. */
let left: Principal | undefined;

beforeAll(async () => {
  bare = await bareApp();
});
afterAll(() => bare.end());

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const app = await bare.definition();
  const log = {
    read: () => Promise.resolve([]),
    requireFollowerSlot: () => undefined,
    follow: (follower: (entry: LogEntry) => void) => {
      tell = follower;
      isFollowed = true;
      return () => {
        isFollowed = false;
      };
    },
  };
  left = principal;
  const tokens = { current: () => left };
  const begun = Promise.withResolvers<void>();
  server = createServer((_, opened) => {
    response = opened;
    const deps = { ...bare.deps, tokens, now: () => new Date(0) };
    void serveLog(deps, log, { response, headers: [], principal, app }).then(begun.resolve);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  reader.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await begun.promise;
});
afterEach(async () => {
  vi.useRealTimers();
  reader.destroy();
  await new Promise((resolve) => server.close(resolve));
});

it('is cut off when 1 MiB waits for it', async () => {
  const closed = once(response, 'close');
  for (let lines = 0; lines < 1_000 && !response.destroyed; lines++) tell(longLine);
  expect(response.destroyed).toBe(true);
  await closed;
  expect(isFollowed).toBe(false);
});

it('has until the next look to read the rest once it may not read any more', async () => {
  // More than the system takes for a reader that does not read.
  while (response.writableLength < 262_144) {
    tell(longLine);
    await pause(1);
  }
  left = undefined;
  await vi.advanceTimersByTimeAsync(2_000);
  while (!response.writableEnded) await pause(1);
  expect([response.destroyed, isFollowed]).toEqual([false, false]);
  const closed = once(response, 'close');
  await vi.advanceTimersByTimeAsync(2_000);
  await closed;
  expect(response.destroyed).toBe(true);
});
