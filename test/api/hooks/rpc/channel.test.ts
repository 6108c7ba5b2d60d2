// The API's end of a runner's channel: what it takes, and what ends it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadCode } from '../../../../api/hooks/pool/load.ts';
import type { Channel } from '../../../../api/hooks/rpc/channel.ts';
import { RouteRun } from '../../../../api/hooks/routes/run.ts';
import type { ToRunner } from '../../../../hook-runner/protocol.ts';
import { channelPairs } from '../../../harness/channel-pair.ts';
import { encodeFrame } from '../../../harness/frame.ts';

const pair = channelPairs();
const done = (id: number) => ({ type: 'result', id, outcome: 'done', changes: {} });

/** Begins the load of one file. */
function begin(channel: Channel) {
  const files = [{ file: 'a.js', source: '' }];
  const load = { workspace: 'acme', app: 'shop', generation: 1, files, env: {} };
  const deadline = performance.now() + 5_000;
  return loadCode(channel, { load, deadline, timeoutMs: 5_000, handleCall: () => Promise.resolve(null) });
}

function raw(length: number, text: string | Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  return Buffer.concat([head, Buffer.from(text)]);
}

describe('a channel', () => {
  it('answers each invocation once, whatever the order and the chunks', async () => {
    const { runner, event, channel } = await pair();
    const outcomes = [event(), event(), event()];
    for (const byte of Buffer.concat([3, 1, 2].map((id) => encodeFrame(done(id))))) {
      runner.write(Buffer.of(byte));
    }
    expect(await Promise.all(outcomes)).toEqual(['done', 'done', 'done']);
    channel.end('closed', 'over');
  });

  it('cancels no route that was answered in full', async () => {
    const { runner, received, channel, event } = await pair();
    const over = Promise.withResolvers<void>();
    let id = 0;
    const end = () => {
      channel.settle(id);
      channel.cancel(id);
      over.resolve();
    };
    const sink = { head: () => {}, chunk: () => {}, fail: () => {}, end };
    const run = new RouteRun(performance.now() + 5_000, () => Promise.resolve(null), sink);
    id = channel.begin(run, (id): ToRunner => ({ type: 'ping', id }));
    runner.write(encodeFrame({ type: 'response', id, status: 204, headers: [], body: null, end: true }));
    await over.promise;
    expect(channel.inFlight).toBe(0);
    const next = event();
    runner.write(encodeFrame(done(id + 1)));
    await next;
    await expect.poll(() => received).toEqual([{ type: 'ping', id }, { type: 'cancel', id: id + 1 }]);
    channel.end('closed', 'over');
  });

  it.each<[string, Buffer]>([
    ['a length of 0', raw(0, '')],
    ['a length over the cap', raw(1_048_577, '{')],
    ['no JSON', raw(5, '{nope')],
    ['no object', raw(2, '[]')],
    ['bytes that are no UTF-8', raw(9, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x20, 0x20]))],
    ['an unknown type', encodeFrame({ type: 'evil' })],
    ['a type of the language', encodeFrame({ type: '__proto__' })],
    ['a second ready', encodeFrame({ type: 'ready', protocol: 1 })],
    ['a result that nobody asked for', encodeFrame(done(99))],
    ['a result of the wrong shape', encodeFrame({ type: 'result', id: 1, outcome: 'done' })],
    ['a result of an unknown outcome', encodeFrame({ type: 'result', id: 1, outcome: 'great' })],
    ['a response of a route to an event', encodeFrame({ type: 'end', id: 1 })],
    ['a response of a load to an event', encodeFrame({ type: 'loaded', id: 1, files: [], errors: [] })],
    [
      'a call of an unknown method',
      encodeFrame({ type: 'call', id: 1, parent: 1, method: 'constructor', args: [] }),
    ],
    [
      'a call of no invocation',
      encodeFrame({ type: 'call', id: 1, parent: 2, method: 'users.findOne', args: ['x'] }),
    ],
    ['a pong that nobody asked for', encodeFrame({ type: 'pong', id: 1 })],
  ])('rpc.confused-deputy: is ended by %s', async (_name, bytes) => {
    const { runner, event, ended } = await pair();
    const outcome = event();
    runner.write(bytes);
    expect(await ended).toMatch(/^protocol_error: /);
    expect(await outcome).toBe('the hook runner was stopped for breaking its protocol');
  });

  it.each([
    ['ready', 256],
    ['pong', 256],
    ['end', 256],
    ['log', 8_192],
    ['call', 262_144],
  ])('rpc.confused-deputy: is ended by a %s of more than %d bytes', async (type, most) => {
    const messages: Record<string, object> = {
      log: { parent: 0, level: 'info', message: '', file: null, fields: null },
      call: { id: 1, parent: 1, method: 'users.findOne', args: ['x'] },
    };
    const message = { type, id: 1, protocol: 1, ...messages[type], and: '' };
    const { runner, ended, event } = await pair();
    void event();
    const and = 'x'.repeat(most + 1 - JSON.stringify(message).length);
    runner.write(encodeFrame({ ...message, and }));
    expect(await ended).toBe(`protocol_error: the hook runner sent a ${type} of ${most + 1} bytes`);
  });

  it('rpc.confused-deputy: is ended by what comes before the runner is ready', async () => {
    const { runner, ended } = await pair({ greets: false });
    runner.write(
      encodeFrame({ type: 'log', parent: 0, level: 'info', message: '', file: null, fields: null }),
    );
    expect(await ended).toBe('protocol_error: the hook runner sent a log that is out of turn');
  });

  it.each([
    ['routes', { routes: 1_001 }],
    ['hooks and jobs', { hooks: 600, jobs: 401 }],
  ])('rpc.confused-deputy: is ended by more %s than an app may have', async (_name, counts) => {
    const hook = { event: 'before_create', collection: 'c' };
    const route = (_: unknown, n: number) => ({ method: `M${n}`, path: '/', segments: [] });
    const job = (_: unknown, n: number) => ({ name: `j${n}`, expression: '* * * * *' });
    const loaded = ({ hooks = 0, routes = 0, jobs = 0 }) => ({
      type: 'loaded',
      id: 1,
      errors: [],
      files: [{
        file: 'a.js',
        hooks: Array(hooks).fill(hook),
        routes: Array.from({ length: routes }, route),
        jobs: Array.from({ length: jobs }, job),
      }],
    });
    const load = async (given: Parameters<typeof loaded>[0]) => {
      const { channel, runner, ended } = await pair();
      const loading = begin(channel).then(() => 'taken', () => ended);
      runner.write(encodeFrame(loaded(given)));
      return await Promise.race([loading, ended]);
    };
    expect(await load({ hooks: 400, routes: 300, jobs: 300 })).toBe('taken');
    expect(await load(counts)).toBe('protocol_error: the hook runner sent 1001 registrations');
  });

  it.each<[string, object]>([
    ['an expression', { jobs: [{ name: 'j', expression: '* * * * '.padEnd(257, '1,') }] }],
    ['a name of a job', { jobs: [{ name: 'j'.repeat(129), expression: '* * * * *' }] }],
    ['a collection', { hooks: [{ event: 'before_create', collection: 'c'.repeat(513) }] }],
    ['a path', { routes: [{ method: 'GET', path: '/'.padEnd(513, 'x'), segments: [] }] }],
    ['a method', { routes: [{ method: 'G'.repeat(513), path: '/', segments: [] }] }],
    ['a segment', {
      routes: [{ method: 'GET', path: '/', segments: [{ kind: 'literal', value: 'x'.repeat(513) }] }],
    }],
    ['a parameter', {
      routes: [{ method: 'GET', path: '/', segments: [{ kind: 'param', name: 'x'.repeat(513) }] }],
    }],
    ['a list of segments', {
      routes: [{ method: 'GET', path: '/', segments: Array(257).fill({ kind: 'rest' }) }],
    }],
  ])('rpc.confused-deputy: is ended by %s that no author can register', async (_name, registered) => {
    const { channel, runner, ended } = await pair();
    const failed = expect(begin(channel)).rejects.toThrow('was stopped for breaking its protocol');
    const file = { file: 'a.js', hooks: [], routes: [], jobs: [], ...registered };
    runner.write(encodeFrame({ type: 'loaded', id: 1, files: [file], errors: [] }));
    expect(await ended).toMatch(/^protocol_error: the hook runner sent a /);
    await failed;
  });

  it('is ended by progress of a file that was not to be loaded', async () => {
    const { channel, runner, ended } = await pair();
    const failed = expect(begin(channel)).rejects.toThrow('was stopped for breaking its protocol');
    runner.write(encodeFrame({ type: 'loading', id: 1, files: ['a.js'] }));
    runner.write(encodeFrame({ type: 'loading', id: 1, files: ['b.js'] }));
    expect(await ended).toBe('protocol_error: the hook runner sent an unknown file');
    await failed;
  });

  it('drops what comes late for the last 1,024 that nobody waits for, and for no others', async () => {
    const { runner, channel, ended, event } = await pair();
    for (let id = 1; id <= 1_025; id++) void event();
    for (let id = 1; id <= 1_025; id++) channel.cancel(id);
    for (let id = 2; id <= 1_025; id++) runner.write(encodeFrame(done(id)));
    const next = event();
    runner.write(encodeFrame(done(1_026)));
    expect(await next).toBe('done');
    runner.write(encodeFrame(done(1)));
    expect(await ended).toBe('protocol_error: the hook runner sent a result that nobody asked for');
  });

  it('answers a call whose invocation is over with an error, and no more than 100 of one', async () => {
    const { event, runner, received, calls, channel } = await pair();
    const outcome = event();
    const call = (id: number) => ({ type: 'call', id, parent: 1, method: 'users.findOne', args: ['x'] });
    for (let id = 1; id <= 101; id++) runner.write(encodeFrame(call(id)));
    while (received.length < 102) await nextTurn();
    runner.write(encodeFrame(done(1)));
    await outcome;
    runner.write(encodeFrame(call(102)));
    while (received.length < 103) await nextTurn();
    expect(calls).toHaveLength(100);
    expect(received.slice(1).filter(({ ok }) => ok === false).map(({ id }) => id)).toEqual([101, 102]);
    channel.end('closed', 'over');
  });
});
