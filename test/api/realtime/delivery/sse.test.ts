// Server-Sent Events over real sockets: bytes, order, pings, the end of streams.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from 'node:net';
import { fail } from '../../../../api/errors.ts';
import { EventClient, openEvents } from '../event-client.ts';
import { type Rig, startRig } from '../rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
  expect(rig.reports).toEqual([]);
});

describe('an event stream', () => {
  it('begins at once, and frames events byte for byte as decided', async () => {
    const client = await openEvents(rig.port);
    expect(client.head).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Standing: yes\r\n/);
    expect(client.head).toContain('Content-Type: text/event-stream; charset=utf-8');
    expect(client.head).not.toMatch(/transfer-encoding|content-length/i);
    expect(client.body).toMatch(/^: connected\nretry: 3000\nid: [\w-]{22}\n\n$/);
    const opening = client.body.length;
    rig.write({ id: '1', text: 'é\n"' });
    rig.write({ id: '1', text: 'b' }, 'record_updated');
    rig.write({ id: '1', text: 'b' }, 'record_deleted');
    const ids = (await client.count(3)).map(({ id }) => id);
    expect(client.body.slice(opening)).toBe(
      `id: ${ids[0]}\nevent: record_created\ndata: {"id":"1","text":"é\\n\\""}\n\n` +
        `id: ${ids[1]}\nevent: record_updated\ndata: {"id":"1","text":"b"}\n\n` +
        `id: ${ids[2]}\nevent: record_deleted\ndata: {"id":"1","text":"b"}\n\n`,
    );
  });

  it('is served to a browser-like client through fetch', async () => {
    const stop = new AbortController();
    const response = await fetch(`http://127.0.0.1:${rig.port}/orders`, { signal: stop.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain(': connected\nretry: 3000\n');
    rig.write({ id: '1' });
    expect((await reader?.read())?.value).toContain('event: record_created\ndata: {"id":"1"}\n\n');
    stop.abort();
  });

  it('answers HEAD without a stream', async () => {
    const client = await openEvents(rig.port, { method: 'HEAD' });
    await client.closed;
    expect(client.status).toBe(200);
    expect(client.body).toBe('');
  });

  it('brings every event of its collection, and of no other, in order', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => openEvents(rig.port)));
    const other = await openEvents(rig.port, { collection: 'notes' });
    for (let round = 0; round < 20; round++) {
      for (let step = 0; step < 10; step++) rig.write({ n: round * 10 + step });
      rig.write({ n: round }, 'record_created', 'notes');
      await nextTurn();
    }
    for (const client of clients) {
      expect((await client.count(200)).map(({ data }) => data)).toEqual(
        Array.from({ length: 200 }, (_, n) => ({ n })),
      );
    }
    expect((await other.count(20)).map(({ data }) => data)).toEqual(
      Array.from({ length: 20 }, (_, n) => ({ n })),
    );
  });

  it('pings every 15 s', async () => {
    const client = await openEvents(rig.port);
    const opening = client.body;
    rig.clock.now += 14_999;
    rig.write({ n: 1 });
    await client.count(1);
    expect(client.body).not.toContain('ping');
    rig.clock.now += 1;
    await client.until(({ body }) => body.endsWith('\n\n: ping\n\n'));
    rig.clock.now += 15_000;
    await client.until(({ body }) => body.endsWith(': ping\n\n: ping\n\n'));
    expect(client.body.startsWith(opening)).toBe(true);
  });

  it('has no rule judged for it any more once its client has gone', async () => {
    const judged: string[] = [];
    rig.gate.rule = ({ filter = '' }) => rig.gate.view(filter, () => judged.push(filter) > 0);
    const goes = await openEvents(rig.port, { filter: 'goes' });
    const stays = await openEvents(rig.port, { filter: 'stays' });
    const write = async (n: number) => {
      judged.length = 0;
      rig.write({ n });
      await stays.count(n);
      return judged.toSorted();
    };
    expect(await write(1)).toEqual(['goes', 'stays']);
    goes.socket.destroy();
    let n = 1;
    await expect.poll(() => write(++n)).toEqual(['stays']);
  });

  it('begins when the response before it on the same connection is through', async () => {
    const [asked, isDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    rig.gate.rule = async ({ topic: { collection } }) => {
      if (collection === 'before') await isDone.promise.then(() => fail('forbidden', 'not for you'));
      return rig.gate.view('', () => true);
    };
    rig.server.on('request', ({ url }) => url === '/orders' && asked.resolve());
    const client = new EventClient(connect(rig.port, '127.0.0.1'));
    for (const path of ['/before', '/orders']) {
      client.socket.write(`GET ${path} HTTP/1.1\r\nHost: rig\r\n\r\n`);
    }
    await asked.promise;
    // Meanwhile the collection is made anew, and somebody watches it.
    rig.gate.incarnation = '2';
    const other = await openEvents(rig.port);
    isDone.resolve();
    await client.until(({ text }) => text.includes(': connected'));
    rig.write({ n: 1 });
    for (const each of [client, other]) expect((await each.count(1))[0]?.data).toEqual({ n: 1 });
  });

  it('behind an unfinished one on the same connection is refused, not gathered', async () => {
    const client = await openEvents(rig.port);
    client.socket.write('GET /orders HTTP/1.1\r\nHost: rig\r\n\r\n');
    rig.write({ n: 1 });
    await client.count(1);
    expect(client.body.match(/: connected/g)).toHaveLength(1);
  });

  it('ends when the server stops', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => openEvents(rig.port)));
    rig.write({ n: 1 });
    await Promise.all(clients.map((client) => client.count(1)));
    await rig.hub.close(1_000);
    await Promise.all(clients.map((client) => client.closed));
    const refused = await openEvents(rig.port);
    expect(refused.status).toBe(503);
  });

  it('ends when the server stops before its rule is known', async () => {
    const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    rig.gate.rule = async () => {
      asked.resolve();
      await known.promise;
      return rig.gate.view('', () => true);
    };
    const opening = openEvents(rig.port);
    await asked.promise;
    await rig.hub.close(1_000);
    known.resolve();
    await expect(opening).rejects.toThrow('closed');
  });

  it('that does not read is cut off when the server stops', async () => {
    const client = await openEvents(rig.port);
    client.socket.pause();
    const big = 'x'.repeat(100_000);
    for (let n = 0; n < 80; n++) rig.write({ n, big });
    await nextTurn();
    await rig.hub.close(50);
    client.socket.resume();
    await client.closed;
  });
});
