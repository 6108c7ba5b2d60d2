// Streams and the time of day, which administrators and time servers set.
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRealtime } from '../../../api/realtime/build.ts';
import { defaultBounds } from '../../../api/realtime/bounds.ts';
import type { Hub } from '../../../api/realtime/hub.ts';
import type { AuthorizedView } from '../../../api/realtime/ports.ts';
import type { Stream } from '../../../api/realtime/stream.ts';
import { place } from './rig.ts';

const hour = 3_600_000;
const seesAll: AuthorizedView = { key: '', incarnation: '1', passes: () => true };

let timeOfDay: number;
let hub: Hub;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  timeOfDay = Date.UTC(2026, 0, 1);
  hub = createRealtime({
    now: () => new Date(timeOfDay),
    databases: {
      app: nobodyAsks,
      get control() {
        return nobodyAsks();
      },
    },
    definitions: {
      app: nobodyAsks,
      workspace: nobodyAsks,
      onInvalidate: () => () => undefined,
    },
    tokens: { current: nobodyAsks },
    observe: nobodyAsks,
    spentShares: { note: nobodyAsks },
    config: {
      http: { max_body_bytes: 1_024 },
      realtime: { streams_per_principal: 10, streams_per_address: 10 },
    },
  });
});
afterEach(async () => {
  await hub.close(0);
  vi.useRealTimers();
});

function nobodyAsks(): never {
  throw new Error('streams without a token ask for nothing');
}

interface Held {
  stream: Stream;
  socket: Duplex;
  written: string[];
}

/** A stream whose connection the test holds; of one that `stalls` nothing ever leaves. */
function attach({ stalls = false } = {}): Held {
  const written: string[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (bytes, _encoding, done) => {
      written.push(String(bytes));
      if (!stalls) done();
    },
  });
  const holder = { principal: null, address: '127.0.0.1', query: {} };
  const stream = hub.attach(socket, {
    place,
    holder,
    claim: hub.claimStream(holder),
    wire: {
      isSingle: false,
      ping: Buffer.from('ping'),
      events: ({ frames }) => frames,
      reset: () => Buffer.from('reset'),
      failed: () => undefined,
      lost: () => undefined,
      close: () => undefined,
    },
  });
  socket.once('close', () => stream.closed());
  return { stream, socket, written };
}

function watch(stream: Stream, since?: string): string {
  let begins = '';
  const authorization = { view: seesAll, version: 0 };
  const wanted = { id: 'a', collection: 'orders', filter: undefined, since, authorization };
  hub.subscribe(stream, wanted, (cursor) => begins = cursor);
  return begins;
}

/** Time passes while the time of day is wrong. */
function pass(milliseconds: number): void {
  const { sweepMs } = defaultBounds;
  for (let passed = 0; passed < milliseconds; passed += sweepMs) {
    timeOfDay += sweepMs;
    vi.advanceTimersByTime(sweepMs);
  }
}

it('a stream is pinged as often as ever when the clock has been set back', () => {
  const { written } = attach();
  timeOfDay -= hour;
  pass(2 * defaultBounds.pingMs);
  expect(written).toEqual(['ping', 'ping']);
});

it('a stream is not pinged again and again when the clock has been set forward', () => {
  const { written } = attach();
  timeOfDay += hour;
  pass(defaultBounds.pingMs);
  expect(written).toEqual(['ping']);
});

it('a stream whose reader stalls is cut off when the clock has been set back', () => {
  const { stream, socket } = attach({ stalls: true });
  stream.write([Buffer.from('first')]);
  pass(2 * defaultBounds.sweepMs);
  timeOfDay -= hour;
  pass(defaultBounds.sink.stallMs);
  expect(socket.destroyed).toBe(true);
});

it('a stream that was told to end is cut off when the clock has been set back', () => {
  const { stream, socket } = attach();
  stream.end({ why: 'policy', message: 'too many messages' }, hub.now());
  timeOfDay -= hour;
  pass(2 * defaultBounds.endingMs);
  expect(socket.destroyed).toBe(true);
});

it('a log that nobody uses is forgotten when the clock has been set back', () => {
  const first = attach();
  const since = watch(first.stream);
  first.stream.cut();
  pass(2 * defaultBounds.sweepMs);
  timeOfDay -= hour;
  pass(defaultBounds.unusedMs);
  const { stream, written } = attach();
  watch(stream, since);
  expect(written).toEqual(['reset']);
});
