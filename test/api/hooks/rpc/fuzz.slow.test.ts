// Bytes and messages of runners, changed at random: taken or refused, and nothing of the API's ever fails for them.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UnaryInvocation } from '../../../../api/hooks/rpc/unary-invocation.ts';
import { Channel } from '../../../../api/hooks/rpc/channel.ts';
import { RouteRun } from '../../../../api/hooks/routes/run.ts';
import { FrameReader, ProtocolError } from '../../../../api/hooks/rpc/frames.ts';
import { readMessage } from '../../../../api/hooks/rpc/inbound.ts';
import type { ToRunner } from '../../../../hook-runner/protocol.ts';
import { encodeFrame } from '../../../harness/frame.ts';
import { numbersFrom } from '../../../harness/random-numbers.ts';

const fault = { message: 'no', file: 'a.js', line: 1, column: 2, stack: null };
const call = (method: string, ...args: unknown[]) => ({ type: 'call', id: 1, parent: 1, method, args });
/** One of each kind. */
const messages: readonly object[] = [
  { type: 'ready', protocol: 1 },
  { type: 'pong', id: 1 },
  { type: 'loading', id: 1, files: ['a.js'] },
  {
    type: 'loaded',
    id: 1,
    errors: [fault],
    files: [{
      file: 'a.js',
      hooks: [{ event: 'before_create', collection: 'posts' }],
      routes: [{ method: 'GET', path: '/:a/*', segments: [{ kind: 'param', name: 'a' }, { kind: 'rest' }] }],
      jobs: [{ name: 'nightly', expression: '0 3 * * *' }],
    }],
  },
  { type: 'result', id: 1, outcome: 'done', changes: { title: 'x', n: [1, null] } },
  { type: 'result', id: 1, outcome: 'veto', message: 'no', fault, field: { path: 'a', code: 'b' } },
  { type: 'result', id: 1, outcome: 'failed', faults: [fault] },
  { type: 'result', id: 2, outcome: 'http_error', status: 418, code: 'teapot', message: 'short' },
  { type: 'response', id: 2, status: 200, headers: [['x-a', 'b']], body: { text: 'x' }, end: false },
  { type: 'chunk', id: 2, body: { base64: 'AP8=' } },
  { type: 'end', id: 2 },
  { type: 'log', parent: 0, level: 'info', message: 'x', file: null, fields: { a: [true] } },
  call('records.findOne', 'posts', 'x'),
  call('records.list', 'posts', { filter: 'a = 1', sort: '-a', page: 1, per_page: 2 }),
  call('records.create', 'posts', { title: 'x' }),
  call('records.update', 'posts', 'x', { title: null }),
  call('records.delete', 'posts', 'x'),
  call('users.findOne', 'x'),
  call('files.get', 'x'),
  call('files.create', { filename: 'a', mime: 'b/c', body: { text: 'x' } }),
  call('files.delete', 'x'),
  call('mail.send', { to: 'a@b.c', subject: 'x', text: 'y', html: 'z' }),
  call('realtime.publish', 'posts', 'x', { a: 1 }),
  call('fetch', { url: 'http://x/', method: 'GET', headers: [['a', 'b']], body: null, redirect: 'follow' }),
];
const values = [
  ...[
    'null',
    'true',
    '0',
    '-1',
    '1.5',
    '4294967296',
    '1e999',
    '""',
    '"x"',
    '"\\ud800"',
    '"\\u0000"',
    '[]',
    '[[]]',
  ],
  ...['{}', '{"__proto__":{"text":"x"}}', '[null]', '{"text":5}', '"constructor"', '{"length":9}', '[["a"]]'],
];
const member = /"[a-z_A-Z]+":|null|true|false|-?\d+|"[^"]*"|\[\]|\{\}/g;

/** The JSON of a message with some of its names and values replaced. */
function changed(message: object, random: (below: number) => number): string {
  let text = JSON.stringify(message);
  for (let change = random(3); change > 0; change--) {
    const places = [...text.matchAll(member)];
    const { index = 0, 0: found = '' } = places[random(places.length)] ?? {};
    const value = values[random(values.length)] ?? '';
    const replaced = found.endsWith(':') ? `"${random(2) === 0 ? '__proto__' : 'x'}":` : value;
    text = text.slice(0, index) + replaced + text.slice(index + found.length);
  }
  return text;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

describe('messages of a runner', () => {
  it.each([
    ['an error of a route', { type: 'result', id: 1, outcome: 'http_error', code: 'x', message: 'x' }, [
      400,
      599,
    ]],
    ['a response of a route', { type: 'response', id: 1, headers: [], body: null, end: true }, [200, 599]],
  ])('have, as %s, a status that is one', (_name, message, [least = 0, most = 0]) => {
    for (const status of [least, most]) expect(readMessage({ ...message, status })).toMatchObject({ status });
    for (const status of [least - 1, most + 1, least + 0.5, String(least), null]) {
      expect(() => readMessage({ ...message, status }), String(status)).toThrow(ProtocolError);
    }
  });

  it.each([1, 2, 3, 4])(
    'rpc.fuzz: 60,000 with other names and values (seed %i) are read or refused',
    (seed) => {
      const random = numbersFrom(seed);
      let [read, refused] = [0, 0];
      while (read + refused < 60_000) {
        const text = changed(messages[random(messages.length)] ?? {}, random);
        if (!isJson(text)) continue;
        try {
          readMessage(JSON.parse(text));
          read++;
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          refused++;
        }
      }
      expect(Math.min(read, refused)).toBeGreaterThan(5_000);
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );
});

describe('a channel', () => {
  const server = createServer();
  const path = join(mkdtempSync(join(tmpdir(), 'bulkhead-fuzz-')), 's');
  beforeAll(() => new Promise<void>((resolve) => server.listen(path, resolve)));
  afterAll(() => rmSync(dirname(path), { recursive: true }));

  /** Conversations that begin as they should. Answers why it ended, and whatever failed that is the API's own. */
  async function converse(bytes: readonly Buffer[]): Promise<{ end: string; failures: unknown[] }> {
    const arrived = once(server, 'connection');
    const runner = connect(path).on('error', () => 'the other end breaks it off').resume();
    const [socket] = await arrived;
    const ended = Promise.withResolvers<string>();
    const failures: unknown[] = [];
    const report = (error: unknown) => void failures.push(error);
    const hears = { onReady: () => {}, onLog: () => {}, report, onEnd: ended.resolve };
    const channel = new Channel({ socket, ...hears });
    const response = () => Promise.resolve(null);
    const event = new UnaryInvocation(performance.now() + 5_000, response);
    event.result.catch(() => 'as it may be');
    const route = new RouteRun(performance.now() + 5_000, response, {
      head: () => {},
      chunk: () => {},
      end: () => {},
      fail: () => {},
    });
    for (const one of [event, route]) channel.begin(one, (id): ToRunner => ({ type: 'cancel', id }));
    for (const piece of [encodeFrame({ type: 'ready', protocol: 1 }), ...bytes]) runner.write(piece);
    runner.end();
    return { end: await ended.promise, failures };
  }

  it('rpc.fuzz: 600 conversations of changed frames, cut and in pieces, end as what they are and fail nothing', async () => {
    const random = numbersFrom(5);
    const ends = new Map<string, number>();
    for (let round = 0; round < 600; round++) {
      const frames = Array.from({ length: 1 + random(12) }, () => {
        const message = messages[random(messages.length)] ?? {};
        const text = Buffer.from(random(4) === 0 ? changed(message, random) : JSON.stringify(message));
        const head = Buffer.alloc(4);
        head.writeUInt32BE(random(40) === 0 ? random(0xffff_ffff) : text.length);
        return Buffer.concat([head, text]);
      });
      const all = Buffer.concat(frames);
      const cut = random(3) === 0 ? all.subarray(0, random(all.length)) : all;
      const middle = random(cut.length + 1);
      const { end, failures } = await converse([cut.subarray(0, middle), cut.subarray(middle)]);
      expect(failures).toEqual([]);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    expect([...ends.keys()].sort()).toEqual(['exited', 'protocol_error']);
    expect(Math.min(...ends.values())).toBeGreaterThan(10);
  });
});

describe('frames', () => {
  it.each([42, 43, 44, 45])(
    'rpc.fuzz: 250,000 mutated frames (seed %i of four) are taken or refused, and nothing else is ever thrown',
    (seed) => {
      const seeds = [
        { type: 'result', id: 1, outcome: 'done', changes: {} },
        {
          type: 'call',
          id: 1,
          parent: 1,
          method: 'records.create',
          args: ['posts', { title: 'x', n: [1, 2.5, null] }],
        },
        {
          type: 'log',
          parent: 0,
          level: 'info',
          message: 'hello \\u00e9',
          file: null,
          fields: { a: { b: [true] } },
        },
      ].map(encodeFrame);
      const random = numbersFrom(seed);
      let [taken, refused] = [0, 0];
      for (let round = 0; round < 250_000; round++) {
        const frame = Buffer.from(seeds[round % seeds.length] ?? Buffer.alloc(0));
        for (let change = random(4); change >= 0; change--) frame[random(frame.length)] = random(256);
        const reader = new FrameReader(1_048_576, () => taken++);
        try {
          const cut = random(frame.length);
          reader.push(frame.subarray(0, cut));
          reader.push(frame.subarray(cut));
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          refused++;
        }
      }
      expect(taken).toBeGreaterThan(1_000);
      expect(refused).toBeGreaterThan(1_000);
    },
  );
});
