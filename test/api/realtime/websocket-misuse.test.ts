// WebSocket clients that talk nonsense, talk too much or do not listen.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fail } from '../../../api/errors.ts';
import { type Rig, startRig } from './rig.ts';
import { openSocket, path } from './socket-client.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
  expect(rig.reports).toEqual([]);
});

/** Opens a WebSocket whose frames are the caller's. */
async function openRaw(port = rig.port): Promise<Socket> {
  const raw = connect(port, '127.0.0.1');
  raw.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await once(raw, 'data');
  return raw;
}

/** The frame of a ping of ours, its mask nothing. */
const ping = Buffer.concat([Buffer.from([0x81, 0x80 | 15, 0, 0, 0, 0]), Buffer.from('{"type":"ping"}')]);

describe('a client that talks nonsense', () => {
  it.each([
    ['', 'deserialization'],
    ['{', 'deserialization'],
    ['null', 'deserialization'],
    ['[]', 'deserialization'],
    ['"subscribe"', 'deserialization'],
    ['{}', 'validation'],
    ['{"type":"SUBSCRIBE"}', 'validation'],
    ['{"type":"__proto__"}', 'validation'],
    ['{"type":"subscribe"}', 'validation'],
    ['{"type":"subscribe","id":"","collection":"orders"}', 'validation'],
    ['{"type":"subscribe","id":1,"collection":"orders"}', 'validation'],
    ['{"type":"subscribe","id":"a","collection":"orders","more":1}', 'validation'],
    ['{"type":"subscribe","id":"a","collection":"orders","filter":7}', 'validation'],
    ['{"type":"auth","token":""}', 'validation'],
    ['{"type":"unsubscribe","id":"a"}', 'not_found'],
  ])('%s is told %s, and may go on', async (message, code) => {
    const client = await openSocket(rig.port);
    expect(await client.ask(message)).toMatchObject({ type: 'error', code, message: expect.any(String) });
    expect(await client.subscribe('a')).toMatchObject({ type: 'subscribed' });
  });

  it('with names too long or brackets too deep is told so', async () => {
    const client = await openSocket(rig.port);
    expect(await client.subscribe('a'.repeat(65))).toMatchObject({ type: 'error', code: 'validation' });
    expect(await client.ask('['.repeat(60_000))).toMatchObject({ type: 'error', code: 'deserialization' });
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(await client.ask(`{"type":"ping","more":${deep}}`)).toMatchObject({
      type: 'error',
      code: 'validation',
    });
  });

  it('in bytes is told that a message is JSON', async () => {
    const client = await openSocket(rig.port);
    expect(await client.ask(new TextEncoder().encode('{"type":"ping"}'))).toMatchObject({
      code: 'deserialization',
    });
  });

  it('is told which subscription an error is about', async () => {
    const client = await openSocket(rig.port);
    await client.subscribe('a');
    expect(await client.subscribe('a')).toMatchObject({ type: 'error', id: 'a', code: 'conflict' });
    rig.gate.rule = () => fail('not_found', 'there is no such collection');
    expect(await client.subscribe('b')).toMatchObject({ type: 'error', id: 'b', code: 'not_found' });
    rig.write({ n: 1 });
    expect((await client.count(4))[3]).toMatchObject({ type: 'event', id: 'a' });
  });

  it('is closed with 1008 when it keeps on', async () => {
    const client = await openSocket(rig.port);
    for (let times = 0; times < 30; times++) client.say('garbage');
    expect((await client.closed).code).toBe(1008);
    expect(client.told.length).toBeLessThan(30);
  });

  it('is closed with 1008 when it talks too fast, and not when it takes its time', async () => {
    const slow = await openSocket(rig.port);
    const fast = await openSocket(rig.port);
    for (let times = 0; times < 250; times++) {
      await slow.settle();
      rig.clock.now += 50;
    }
    for (let times = 0; times < 250; times++) fast.say({ type: 'ping' });
    expect((await fast.closed).code).toBe(1008);
    await slow.settle();
  });

  it('is cut off when it talks on after it was told to go', async () => {
    // Ours, and those of the protocol.
    for (const frame of [ping, ...[0x89, 0x8a].map((kind) => Buffer.from([kind, 0x80, 0, 0, 0, 0]))]) {
      const raw = await openRaw();
      raw.write(Buffer.concat(Array(1_300).fill(frame)));
      await expect(once(raw, 'close')).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
  });

  it('has one message a turn, so that others have theirs between', async () => {
    const patient = await startRig({
      sockets: { messages: { burst: 10_000, perSecond: 1, garbageCost: 1 } },
    });
    const raw = await openRaw(patient.port);
    let turns = 0;
    const count = () => void (turns++, counting = setImmediate(count));
    let counting = setImmediate(count);
    raw.write(Buffer.concat(Array(1_000).fill(ping)));
    let told = 0;
    for await (const chunk of raw) {
      told += String(chunk).split('pong').length - 1;
      if (told === 1_000) break;
    }
    clearImmediate(counting);
    expect(turns).toBeGreaterThanOrEqual(1_000);
    await patient.close();
  });

  it('is closed with 1008 when more than 1 MiB of what it says waits to be answered', async () => {
    const waiting = Promise.withResolvers<void>();
    const view = rig.gate.view('', () => true);
    rig.gate.rule = () => waiting.promise.then(() => view);
    const [modest, greedy] = [await openSocket(rig.port), await openSocket(rig.port)];
    const long = `{"type":"ping"}${' '.repeat(65_000)}`;
    for (const [client, times] of [[modest, 16], [greedy, 17]] as const) {
      client.say({ type: 'subscribe', id: 'a', collection: 'orders' });
      for (let time = 0; time < times; time++) client.say(long);
    }
    expect((await greedy.closed).code).toBe(1008);
    waiting.resolve();
    expect((await modest.count(17)).map(({ type }) => type)).toEqual([
      'subscribed',
      ...Array(16).fill('pong'),
    ]);
    await modest.settle();
  });

  it('is closed when a message is too long', async () => {
    const client = await openSocket(rig.port);
    client.say('x'.repeat(65_537));
    expect((await client.closed).code).toBe(1009);
  });

  it('is closed with 1008 when a message comes in a thousand pieces', async () => {
    const raw = await openRaw();
    const piece = (first: number) => Buffer.from([first, 0x81, 0, 0, 0, 0, 0x78]);
    const middle = Array.from({ length: 1_000 }, () => piece(0x00));
    raw.write(Buffer.concat([piece(0x01), ...middle, piece(0x80)]));
    const [said] = await once(raw, 'data');
    expect([said[0], said.readUInt16BE(2)]).toEqual([0x88, 1008]);
    raw.destroy();
  });

  it('holds at most so many subscriptions', async () => {
    const small = await startRig({ sockets: { subscriptions: 2 } });
    const client = await openSocket(small.port);
    await client.subscribe('a');
    await client.subscribe('b');
    expect(await client.subscribe('c')).toMatchObject({ type: 'error', id: 'c', code: 'too_many_requests' });
    client.say({ type: 'unsubscribe', id: 'a' });
    expect(await client.subscribe('c')).toMatchObject({ type: 'subscribed' });
    await small.close();
  });

  it('that asks behind a whole answer which it does not read yet, gets its WebSocket after that', async () => {
    const body = 'x'.repeat(20_000_000);
    rig.server.removeAllListeners('request').on('request', (_, response) => response.end(body));
    const [requested, asked] = [once(rig.server, 'request'), once(rig.server, 'upgrade')];
    const raw = connect(rig.port, '127.0.0.1').setEncoding('latin1');
    raw.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await requested;
    raw.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await asked;
    const chunks: string[] = [];
    for await (const chunk of raw) {
      chunks.push(chunk);
      if (chunks.slice(-2).join('').includes('Sec-WebSocket-Accept')) break;
    }
    const text = chunks.join('');
    expect(text.indexOf('HTTP/1.1 101')).toBe(text.indexOf('\r\n\r\n') + 4 + body.length);
  });

  it('that breaks the protocol itself harms nobody', async () => {
    const client = await openSocket(rig.port);
    await client.subscribe('a');
    const raw = connect(rig.port, '127.0.0.1');
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    raw.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    await new Promise((resolve) => raw.once('data', resolve));
    raw.resume();
    // An unmasked frame of a reserved opcode with reserved bits.
    raw.write(Buffer.from([0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
    await new Promise((resolve) => raw.once('close', resolve));
    rig.write({ n: 1 });
    expect((await client.count(2))[1]).toMatchObject({ record: { n: 1 } });
  });
});

describe('sse.slow-consumer: a WebSocket that does not read', () => {
  it('is cut off after 1 MiB is waiting, while every other gets all events in order', async () => {
    const healthy = await Promise.all(Array.from({ length: 5 }, () => openSocket(rig.port)));
    for (const client of healthy) await client.subscribe('a');
    const raw = connect(rig.port, '127.0.0.1');
    raw.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await new Promise((resolve) => raw.once('data', resolve));
    const message = Buffer.from('{"type":"subscribe","id":"a","collection":"orders"}');
    raw.write(Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), message]));
    await new Promise((resolve) => raw.once('data', resolve));
    raw.pause();
    const end = rig.connections.find(({ remotePort }) => remotePort === raw.localPort);
    const text = 'x'.repeat(20_000);
    let n = 0;
    for (; end?.destroyed === false && n < 5_000; n++) {
      rig.write({ n, text });
      await nextTurn();
    }
    expect(end?.destroyed).toBe(true);
    for (const client of healthy) {
      const told = await client.count(n + 1);
      expect(told.slice(1).map(({ record }) => (record as { n: number }).n)).toEqual(
        Array.from({ length: n }, (_, index) => index),
      );
    }
    raw.destroy();
  });
});
