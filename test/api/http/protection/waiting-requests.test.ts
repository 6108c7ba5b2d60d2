// Pipelined requests: one after the other, the addresses in turn, and not too many of them.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  holdPipelined,
  roundRobin,
  type RunInTurn,
} from '../../../../api/http/protection/waiting-requests.ts';
import { sendRaw } from '../../../harness/raw-requests.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function serve(handler: RequestListener, runInTurn: RunInTurn = roundRobin()): Promise<string> {
  server = createServer(holdPipelined(runInTurn)(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const last = 'GET /9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** Requests in one packet. */
const packet = (count: number) =>
  Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

const statuses = (text: string) => text.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0;

describe('finding-7: pipelined requests', () => {
  it('are handled one in each turn of the event loop, in their order', async () => {
    const handled: string[] = [];
    const turns: number[] = [];
    let turn = 0;
    const count = () => {
      turn++;
      if (handled.length < 10) setImmediate(count);
    };
    const url = await serve((request, response) => {
      if (turn === 0) count();
      handled.push(request.url ?? '');
      turns.push(turn);
      response.end('done');
    });
    await sendRaw(url, packet(9) + last);
    expect(handled).toEqual(Array.from({ length: 10 }, (_, at) => `/${at}`));
    expect(new Set(turns).size).toBe(10);
  });

  it('wait for the turn of their address', async () => {
    const due = Promise.withResolvers<() => void>();
    const handled: string[] = [];
    const url = await serve((request, response) => {
      handled.push(request.url ?? '');
      response.end('done');
    }, (key, run) => due.resolve(() => key === '127.0.0.1' && run()));
    const sent = sendRaw(url, packet(1) + last);
    const run = await due.promise;
    expect(handled).toEqual(['/0']);
    run();
    await sent;
    expect(handled).toEqual(['/0', '/9']);
  });

  it('get a response up to ten, then their connection is closed', async () => {
    const url = await serve((_request, response) => void response.end('done'));
    const { text } = await sendRaw(url, packet(90));
    expect(statuses(text)).toBe(11);
    expect(text.split('HTTP/1.1').at(-1)).toMatch(/^ 200 OK\r\n[^]*Connection: close/);
    expect(text.match(/Connection: close/g)).toHaveLength(1);
  });

  it('are cut off at once when there are more than a hundred', async () => {
    let handled = 0;
    const url = await serve((_request, response) => {
      handled++;
      response.end('done');
    });
    const { text } = await sendRaw(url, packet(500)).catch(() => ({ text: '' }));
    expect([handled <= 1, statuses(text) <= 1]).toEqual([true, true]);
  });

  it('that come one by one are handled at once', async () => {
    const url = await serve((_request, response) => void response.end('done'), () => expect.fail('held'));
    for (let count = 0; count < 30; count++) expect(await (await fetch(url)).text()).toBe('done');
  });

  it('whose client has gone are not handled', async () => {
    const due: (() => void)[] = [];
    let handled = 0;
    const url = await serve((_request, response) => {
      handled++;
      response.end('done');
    }, (_key, run) => void due.push(run));
    const closed = once(server, 'connection').then(async ([socket]) => await once(socket, 'close'));
    await sendRaw(url, packet(2), 'done');
    await closed;
    for (const run of due) run();
    expect([due.length, handled]).toEqual([1, 1]);
  });
});

describe('round robin', () => {
  it('runs one callback of each key in a turn', async () => {
    server = createServer();
    const run: string[] = [];
    const runInTurn = roundRobin();
    const ended = Promise.withResolvers<void>();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) {
      runInTurn(name.slice(0, 1), () => {
        run.push(name);
        if (name === 'b1') runInTurn('d', () => run.push('d1'));
        if (name === 'a3') ended.resolve();
      });
    }
    expect(run).toEqual([]);
    await ended.promise;
    expect(run).toEqual(['a1', 'b1', 'c1', 'd1', 'a2', 'c2', 'a3']);
  });
});
