// The last response on a connection: JSON, after which the connection closes.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HeaderList } from './header-list.ts';
import { jsonContent } from './response-headers.ts';

/** The time that a client has to close its side of the connection after the server has closed its own, in milliseconds. */
const closeTimeoutMs = 10_000;

/** Adds the headers of a last response. */
export function lastResponseHeaders(headers: HeaderList, body: string): HeaderList {
  return [
    ...headers,
    jsonContent,
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
  ];
}

/**
 * Writes a last response to a socket that Node's server has handed over, so that there is no `ServerResponse` for it. Handles
 * the errors of the socket, and closes it in time.
 */
export function writeLastResponse(
  socket: Duplex,
  { status, headers, body }: { status: number; headers: HeaderList; body: string },
): void {
  const lines = lastResponseHeaders(headers, body).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  const timeout = setTimeout(() => socket.destroy(), closeTimeoutMs);
  socket.once('close', () => clearTimeout(timeout));
}
