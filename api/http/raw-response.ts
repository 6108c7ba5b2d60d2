// The last answer on a connection that Node's server has let go of: written by hand, as no `ServerResponse` is left for it.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HeaderList } from './header-list.ts';
import { jsonContent } from './response-headers.ts';

/** How long the client may leave its side of the connection open after we have closed ours, in milliseconds. */
const mostFarewell = 10_000;

/** The headers of an answer in JSON behind which the connection is closed. */
export function lastResponseHeaders(headers: HeaderList, body: string): HeaderList {
  return [
    ...headers,
    jsonContent,
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
  ];
}

/** Answers with JSON and closes the connection, whose errors and time nobody else looks after. */
export function writeLastResponse(
  socket: Duplex,
  { status, headers, body }: { status: number; headers: HeaderList; body: string },
): void {
  const lines = lastResponseHeaders(headers, body).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  const deadline = setTimeout(() => socket.destroy(), mostFarewell);
  socket.once('close', () => clearTimeout(deadline));
}
