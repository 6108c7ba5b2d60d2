// What never becomes a request of the app, because Node or HTTP itself refuses it: answered with our shape and headers.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { currentResponse } from './node-internals.ts';
import type { ErrorCode } from '../errors.ts';
import type { HeaderList } from './header-list.ts';
import { writeHead } from './response-headers.ts';
import { lastResponseHeaders, writeLastResponse } from './raw-response.ts';
import { newRequestId } from './request-info.ts';
import { limitPipelining } from './protection/waiting-requests.ts';

interface Refusal {
  status: number;
  code: ErrorCode;
  message: string;
}

const malformed: Refusal = { status: 400, code: 'validation', message: 'the request is not valid HTTP' };
const hostless: Refusal = { status: 400, code: 'validation', message: 'Host: is required once' };
const nowhere: Refusal = { status: 400, code: 'validation', message: 'Host: is not a host' };
const coded: Refusal = {
  status: 400,
  code: 'validation',
  message: 'Transfer-Encoding: only chunked is known, of HTTP/1.1',
};
const unexpected: Refusal = {
  status: 417,
  code: 'validation',
  message: 'Expect: only 100-continue is known',
};
const tunnel: Refusal = { status: 405, code: 'method_not_allowed', message: 'this is not a proxy' };

/** What the parser's errors are called: https://nodejs.org/api/http.html#event-clienterror */
const byParserCode: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'payload_too_large',
    message: 'the request headers exceed 16 KiB or 100 lines',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'unavailable', message: 'the request came too slowly' },
};

/** Connections on which a request was refused for what it is: nothing behind it is taken for another. */
const spoilt = new WeakSet<Duplex>();

/** Answers, in place of Node, what Node's server would refuse without a body; `standing` are every answer's headers. */
export function respondToClientErrors(server: Server, standing: HeaderList): void {
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuseUnread(socket, byParserCode[error.code ?? ''] ?? malformed, standing);
  });
  server.on(
    'checkExpectation',
    limitPipelining((_request, response) => refuse(response, unexpected, standing)),
  );
  server.on('connect', (request: IncomingMessage, tunnelled: Duplex) => {
    // Nobody else listens to the two from here: an error would end the process, which serves everybody.
    for (const stream of [tunnelled, request.socket]) stream.on('error', () => request.socket.destroy());
    refuseUnread(request.socket, tunnel, standing);
  });
}

/**
 * Refuses requests that a proxy may read otherwise than we. Without a `Host`, or with several, and one of which no address can
 * be made (RFC 9112 section 3.2): `x:99999`; the address of every request that goes on can be read. And whose body is coded in
 * another way than chunked, which Node would hand on as it is, or chunked in HTTP/1.0, which has no chunks (section 6.1).
 */
export function refuseAmbiguous(handler: RequestListener, standing: HeaderList): RequestListener {
  // Almost all requests come with the same one.
  let lastGood = '';
  return (request, response) => {
    if (spoilt.has(request.socket)) return;
    const hosts = countHosts(request.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.httpVersionMinor !== 0)) {
      return refuse(response, hostless, standing);
    }
    const { host = '' } = request.headers;
    if (host !== lastGood && host !== '' && !URL.canParse(`http://${host}`)) {
      return refuse(response, nowhere, standing);
    }
    lastGood = host;
    const coding = request.headers['transfer-encoding'];
    if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersionMinor === 0)) {
      return refuse(response, coded, standing);
    }
    handler(request, response);
  };
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

function refuse(response: ServerResponse, refusal: Refusal, standing: HeaderList): void {
  spoilt.add(response.req.socket);
  const { headers, body } = render(refusal, standing);
  writeHead(response, refusal.status, lastResponseHeaders(headers, body)).end(body);
}

/** For a request that could not be read there is no `ServerResponse`. */
function refuseUnread(socket: Duplex, refusal: Refusal, standing: HeaderList): void {
  if (spoilt.has(socket)) return;
  spoilt.add(socket);
  afterWholeRequests(socket, () => {
    // An answer that has begun must not have another one written into it.
    if (!socket.writable || currentResponse(socket)?.headersSent === true) socket.destroy();
    else writeLastResponse(socket, { status: refusal.status, ...render(refusal, standing) });
  });
}

/** Calls back when the requests before the one that is wrong have their answers: nothing is wrong with them. */
function afterWholeRequests(socket: Duplex, then: () => void): void {
  const answer = currentResponse(socket);
  if (socket.destroyed || answer?.req.complete !== true) then();
  else answer.once('close', () => afterWholeRequests(socket, then));
}

function render(
  { code, message }: Refusal,
  standing: HeaderList,
): { headers: HeaderList; body: string } {
  return {
    headers: [...standing, ['X-Request-Id', newRequestId()]],
    body: JSON.stringify({ code, message }),
  };
}
