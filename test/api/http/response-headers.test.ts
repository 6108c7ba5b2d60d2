// The heads of responses as they are sent.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeaderList } from '../../../api/http/header-list.ts';
import { jsonContent, notStored, writeHead } from '../../../api/http/response-headers.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const headers: HeaderList = [
  jsonContent,
  ['X-Request-Id', 'a'],
  notStored,
  ['Set-Cookie', 'a=1'],
  ['Set-Cookie', 'b=2'],
];

let server: Server;
let url: string;
let respond: RequestListener;

beforeAll(async () => {
  server = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** The lines of the head that a listener sends. */
async function headOf(listener: RequestListener): Promise<string[]> {
  respond = listener;
  const { text } = await sendRaw(url, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return text.split('\r\n\r\n')[0]?.split('\r\n') ?? [];
}

describe('a head', () => {
  it('has the headers in their order, also those that have one name', async () => {
    const lines = await headOf((_request, response) => {
      writeHead(response, 201, headers).end();
    });
    expect(lines.slice(0, 6)).toEqual([
      'HTTP/1.1 201 Created',
      'Content-Type: application/json; charset=utf-8',
      'X-Request-Id: a',
      'Cache-Control: no-store',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
    ]);
  });

  it.each([['X-A', 'b\r\nX-C: d'], ['X-A\r\nX-C', 'd'], ['X-A', '\u0100']])(
    'has no header that HTTP cannot carry, and nothing is sent then: %j: %j',
    async (name, value) => {
      const errors: unknown[] = [];
      const lines = await headOf((_request, response) => {
        try {
          writeHead(response, 200, [...headers, [name, value]]);
        } catch (error) {
          errors.push(error);
          response.writeHead(500).end();
        }
      });
      expect(errors).toHaveLength(1);
      expect(lines[0]).toContain('HTTP/1.1 500');
      expect(lines.join()).not.toContain('X-A');
    },
  );

  it('is not written twice', async () => {
    const errors: unknown[] = [];
    await headOf((_request, response) => {
      writeHead(response, 200, headers);
      try {
        writeHead(response, 500, headers);
      } catch (error) {
        errors.push(error);
      }
      response.end();
    });
    expect(errors).toMatchObject([{ code: 'ERR_HTTP_HEADERS_SENT' }]);
  });
});
