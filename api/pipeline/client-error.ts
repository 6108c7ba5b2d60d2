// What Node's HTTP parser refuses never reaches the app; it is answered here with the same shape and headers.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { securityHeaders } from './security-headers.ts';

/** Status and code for what the parser says (https://nodejs.org/api/http.html#event-clienterror). */
const answers: Readonly<Record<string, { line: string; code: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    code: 'payload_too_large',
    message: 'the request headers exceed 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    code: 'unavailable',
    message: 'the request came too slowly',
  },
};

const malformed = { line: '400 Bad Request', code: 'validation', message: 'the request is not valid HTTP' };

/** Answers a request that could not be read, and closes its connection. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { line, code, message } = answers[error.code ?? ''] ?? malformed;
  const body = JSON.stringify({ code, message });
  const headers = [
    ...securityHeaders,
    ['X-Request-Id', randomUUID()],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
  ];
  socket.end(
    `HTTP/1.1 ${line}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}
