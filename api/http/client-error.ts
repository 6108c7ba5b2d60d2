// Requests that never reach the app, because Node or HTTP itself refuses them: they get the API's own errors and headers.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { currentResponse } from './node-internals.ts';
import type { ErrorCode } from '../errors.ts';
import type { HeaderList } from './header-list.ts';
import { type Hosts, noAppHost, unknownHost } from './hosts/hosts.ts';
import { writeHead } from './response-headers.ts';
import { lastResponseHeaders, writeLastResponse } from './last-response.ts';
import type { Refusals } from './protection/refusals.ts';
import { newRequestId, peerAddress } from './request-info.ts';

/** The parts of a response to a refused request. */
interface Responding {
  securityHeaders: HeaderList;
  refusals: Refusals;
}

interface Refusal {
  status: number;
  code: ErrorCode;
  message: string;
}

const malformed: Refusal = { status: 400, code: 'validation', message: 'the request is not valid HTTP' };
const missingHost: Refusal = { status: 400, code: 'validation', message: 'Host: is required once' };
const invalidHost: Refusal = { status: 400, code: 'validation', message: 'Host: is not a host' };
const foreignHost: Refusal = { status: 400, code: 'validation', message: unknownHost };
const otherHost: Refusal = {
  status: 400,
  code: 'validation',
  message: 'Host: is another than that of the request line',
};
const unknownApp: Refusal = { status: 404, code: 'not_found', message: noAppHost };
const unknownCoding: Refusal = {
  status: 400,
  code: 'validation',
  message: 'Transfer-Encoding: only chunked is known, of HTTP/1.1',
};
const unknownExpectation: Refusal = {
  status: 417,
  code: 'validation',
  message: 'Expect: only 100-continue is known',
};
const tooLarge: Refusal = {
  status: 431,
  code: 'payload_too_large',
  message: 'the request headers exceed 16 KiB or 100 lines',
};
const longPath: Refusal = { status: 431, code: 'payload_too_large', message: 'the path exceeds 16 KiB' };
const tunnel: Refusal = { status: 405, code: 'method_not_allowed', message: 'this is not a proxy' };

/** By the codes of Node's errors: https://nodejs.org/api/http.html#event-clienterror */
const byParserCode: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    ...tooLarge,
    message: 'the request headers exceed 16 KiB or 100 lines, or with the URL 64 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'unavailable', message: 'the request came too slowly' },
};

/** Of the headers without the request line, and of a path. Node hands over headers as Latin-1: a character is a byte. */
const maxHeaderBytes = 16_384;

/** Connections on which a request was refused for its form: nothing after it is read as another request. */
const refused = new WeakSet<Duplex>();
/** Paths that health checks ask for, which know an address of the server and no name. */
const healthChecks = /^\/(?:healthz|readyz)(?:$|\?)/;

/** Responds to the requests that Node's server would refuse without a body. */
export function respondToClientErrors(
  server: Server,
  options: Responding & { hold: (handler: RequestListener) => RequestListener },
): void {
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuseUnread(socket, byParserCode[error.code ?? ''] ?? malformed, options);
  });
  server.on(
    'checkExpectation',
    options.hold((_request, response) => refuse(response, unknownExpectation, options)),
  );
  server.on('connect', (request: IncomingMessage, tunnelled: Duplex) => {
    // Nothing else handles errors of the two from here on, and an unhandled one would end the process.
    for (const stream of [tunnelled, request.socket]) stream.on('error', () => request.socket.destroy());
    refuseUnread(request.socket, tunnel, options);
  });
}

/** Ignores what comes after a refused request on its connection. Complete requests before it may still wait for their turn. */
export function ignoreRefused(handler: RequestListener): RequestListener {
  return (request, response) => {
    if (!refused.has(request.socket)) handler(request, response);
  };
}

/**
 * Refuses requests that a proxy may read in another way than this server does (RFC 9112). Their `Host` is missing, repeated or
 * no valid host, such as `x:99999` (section 3.2), or no name of this server: a page whose name was rebound to its address
 * would pass for one of its own. Or the request line names another, and one of the two is an app's. Or their body has another
 * transfer coding than chunked, which Node would pass on undecoded, or it is chunked in HTTP/1.0, which knows no chunks (section
 * 6.1). Refused too are headers and paths that are longer than any client's: Node's own limit leaves room for a filter of 4,096
 * characters in any script.
 */
export function refuseAmbiguous(
  handler: RequestListener,
  options: Responding & { hosts: Hosts },
): RequestListener {
  // Almost all requests have the same one.
  let lastValid: string | undefined;
  return (request, response) => {
    const { hosts, bytes } = measureHeaders(request.rawHeaders);
    if (bytes > maxHeaderBytes) return refuse(response, tooLarge, options);
    if (pathLength(request.url ?? '') > maxHeaderBytes) return refuse(response, longPath, options);
    if (hosts > 1 || (hosts === 0 && request.httpVersionMinor !== 0)) {
      return refuse(response, missingHost, options);
    }
    const { host = '' } = request.headers;
    if (host !== lastValid) {
      if (host !== '' && !URL.canParse(`http://${host}`)) {
        return refuse(response, invalidHost, options);
      }
      const meaning = options.hosts.meaningOf(host);
      if (meaning !== 'foreign' && meaning !== 'no_app') lastValid = host;
      else if (!healthChecks.test(request.url ?? '')) {
        return refuse(response, meaning === 'no_app' ? unknownApp : foreignHost, options);
      }
    }
    if (namesOtherHost(request, options.hosts)) return refuse(response, otherHost, options);
    const coding = request.headers['transfer-encoding'];
    if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersionMinor === 0)) {
      return refuse(response, unknownCoding, options);
    }
    handler(request, response);
  };
}

/**
 * True for a request line with a whole URL (RFC 9112 section 3.2.2) of another host, if one of the two is that of an app: a
 * proxy may have checked the one, and the app is read from the other.
 */
function namesOtherHost({ url = '', headers: { host = '' } }: IncomingMessage, hosts: Hosts): boolean {
  if (url.startsWith('/')) return false;
  const [, named] = /^[a-z]+:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (named === undefined || named.toLowerCase() === host.toLowerCase()) return false;
  return hosts.appOf(named) !== undefined || hosts.appOf(host) !== undefined;
}

/** The number of `Host` headers, and the bytes of all headers as they are sent: `name: value` and a line's end. */
function measureHeaders(rawHeaders: readonly string[]): { hosts: number; bytes: number } {
  let hosts = 0;
  let bytes = rawHeaders.length * 2;
  for (let at = 0; at < rawHeaders.length; at++) {
    const text = rawHeaders[at] ?? '';
    bytes += text.length;
    if (at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host') hosts++;
  }
  return { hosts, bytes };
}

function pathLength(url: string): number {
  if (url.length <= maxHeaderBytes) return url.length;
  const query = url.indexOf('?');
  return query === -1 ? url.length : query;
}

function refuse(response: ServerResponse, refusal: Refusal, options: Responding): void {
  const { socket } = response.req;
  refused.add(socket);
  options.refusals.add(peerAddress(socket), refusal.status);
  const { headers, body } = render(refusal, options);
  writeHead(response, refusal.status, lastResponseHeaders(headers, body)).end(body);
}

/** Refuses a request that could not be parsed, for which there is no `ServerResponse`. */
function refuseUnread(socket: Duplex, refusal: Refusal, options: Responding): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  if (socket instanceof Socket) options.refusals.add(peerAddress(socket), refusal.status);
  afterCompleteRequests(socket, () => {
    // Nothing may be written into a response that has begun.
    if (!socket.writable || currentResponse(socket)?.headersSent === true) socket.destroy();
    else writeLastResponse(socket, { status: refusal.status, ...render(refusal, options) });
  });
}

/** Calls back once the valid requests before the refused one have their responses. */
function afterCompleteRequests(socket: Duplex, then: () => void): void {
  const response = currentResponse(socket);
  if (socket.destroyed || response?.req.complete !== true) then();
  else response.once('close', () => afterCompleteRequests(socket, then));
}

function render(
  { code, message }: Refusal,
  { securityHeaders }: Responding,
): { headers: HeaderList; body: string } {
  return {
    headers: [...securityHeaders, ['X-Request-Id', newRequestId()]],
    body: JSON.stringify({ code, message }),
  };
}
