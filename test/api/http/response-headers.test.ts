// Heads of answers, held against those that Node writes.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AnswerHeaders,
  constantHeader,
  jsonContent,
  notStored,
  writeHead,
} from '../../../api/http/response-headers.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const headers: AnswerHeaders = [
  jsonContent,
  ['X-Request-Id', 'a'],
  notStored,
  ['Set-Cookie', 'a=1'],
  ['Set-Cookie', 'b=2'],
];

type WriteHead = (response: ServerResponse, status: number, headers: AnswerHeaders) => ServerResponse;
const plainly: WriteHead = (response, status, headers) =>
  response.writeHead(status, headers.flatMap(([name, value]) => [name, value]));

let server: Server;
let url: string;
let answer: RequestListener;

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** All that comes of a request, its header lines in the order of their letters, but for the time of day. */
async function textOf(
  write: WriteHead,
  request: string,
  end: (response: ServerResponse, write: WriteHead) => void,
) {
  answer = (_request, response) => end(response, write);
  // The second request ends the connection, where the first has not.
  const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  const { text } = await sendRaw(url, request + last);
  return text.split('\r\n\r\n').map((piece) =>
    piece.split('\r\n').filter((line) => !line.startsWith('Date: ')).sort().join('\n')
  );
}

describe('a head', () => {
  it.each([
    ['HTTP/1.1', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['HTTP/1.1 that is the last', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['HTTP/1.0 that goes on', 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
    ['HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['100-continue', 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx'],
  ])('is that of Node, for %s', async (_name, request) => {
    for (const status of [200, 201, 204, 206, 304, 404, 418, 503, 599]) {
      const ends: ((response: ServerResponse, write: WriteHead) => void)[] = [
        (response, write) => write(response, status, [...headers, ['Content-Length', '4']]).end('body'),
        (response, write) => write(response, status, headers).end('body'),
        (response, write) => write(response, status, headers).end(),
        (response, write) => {
          write(response, status, headers).write('bo');
          response.end('dy');
        },
      ];
      for (const end of ends) {
        const ours = await textOf(writeHead, request, end);
        expect(ours).toEqual(await textOf(plainly, request, end));
        expect(ours.join()).toContain('Cache-Control: no-store');
      }
    }
  });

  it('has no header that HTTP cannot carry, and nothing is sent then', async () => {
    const bad: [string, string][] = [['X-A', 'b\r\nX-C: d'], ['X-A\r\nX-C', 'd'], ['X-A', '\u0100']];
    for (const header of bad) {
      const errors: unknown[] = [];
      const [text] = await textOf(writeHead, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', (response, write) => {
        try {
          write(response, 200, [...headers, header]);
        } catch (error) {
          errors.push(error);
          response.end('refused');
        }
      });
      expect(errors.length).toBeGreaterThan(0);
      expect(text).not.toContain('X-A');
    }
  });

  it('is not written twice', async () => {
    const errors: unknown[] = [];
    await textOf(writeHead, '', (response, write) => {
      write(response, 200, headers);
      try {
        write(response, 500, headers);
      } catch (error) {
        errors.push(error);
      }
      response.end();
    });
    expect(errors).toMatchObject([{ code: 'ERR_HTTP_HEADERS_SENT' }]);
  });
});

describe('a constant header', () => {
  it.each([['X A', 'b'], ['X-A', 'b\nc'], ['X-A', '\u0100']])(
    'is none that HTTP cannot carry: %j: %j',
    (name, value) => {
      expect(() => constantHeader(name, value)).toThrow();
    },
  );

  it.each(['Connection', 'content-length', 'Date', 'Transfer-Encoding', 'Trailer', 'Expect'])(
    'is not %s, which Node must see',
    (name) => expect(() => constantHeader(name, '1')).toThrow(`${name} is not for all answers`),
  );
});
