// The one client for requests to other servers. It checks every connection, and limits the size and time of every response.
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Agent, Dispatcher } from 'undici';
import type { Config } from '../../supervisor/protocol.ts';
import type { HeaderList } from '../http/header-list.ts';
import { ChunkGuard } from '../http/protection/chunk-guard.ts';
import { ignore } from '../logging/ignore.ts';
import { EgressError } from './failure.ts';
import type { Resolve } from './names.ts';
import { Wall } from './wall.ts';

/** A request to another server. */
export interface EgressRequest {
  method: string;
  url: URL;
  /** Headers of the connection (`Host`, `Content-Length` …) are dropped: the client sets them. */
  headers?: HeaderList;
  body?: string | Uint8Array | Readable;
  /** Aborts the request, and the reading of its response. */
  signal?: AbortSignal;
  /** Of the response body. */
  maxBytes: number;
  /** From the name's resolution to the last byte of the body. Default: 5,000. */
  timeoutMs?: number;
  /** True when the URL may be requested. Called for the request and for each redirect that is followed. */
  isAllowed?: (url: URL) => boolean;
  /** `follow` (default) follows a GET or HEAD on the same origin and refuses other redirects; `manual` returns them. */
  redirects?: 'follow' | 'manual';
}

interface ResponseHead {
  /** The URL that responded: after a redirect, not the requested one. */
  url: URL;
  status: number;
  /** As the host sent it. */
  statusText: string;
  headers: HeaderList;
}

/** A response whose body is still being received. Reading it throws `EgressError`. */
export interface EgressStream extends ResponseHead {
  body: AsyncIterable<Uint8Array>;
}

/** A response with its whole body. */
export interface EgressResponse extends ResponseHead {
  body: Buffer;
}

/** The client for requests to other servers. */
export interface Egress {
  /** Closes a port of this machine, which is the server's own, to all requests. */
  closePort(port: number): void;
  /** The reason to refuse a URL before its name is resolved, or undefined. Settings that hold URLs are checked by it. */
  objection(url: URL): string | undefined;
  /** Sends a request, and resolves with the headers of the response. Throws `EgressError`. */
  open(request: EgressRequest): Promise<EgressStream>;
  /** Sends a request, and resolves with the whole response. Throws `EgressError`. */
  send(request: EgressRequest): Promise<EgressResponse>;
  /** Aborts the requests that are under way. */
  close(): Promise<void>;
}

const defaultTimeoutMs = 5_000;
const maxRedirects = 3;
/** Bytes of a body that are received before they are read. Each may be a chunk. */
const maxReadAhead = 16_384;
/** Chunks of a body that are read in one turn of the event loop. */
const chunksPerTurn = 256;

/** The statuses that redirect: https://fetch.spec.whatwg.org/#redirect-status */
export const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Creates the client. `resolve` replaces this machine's resolver. */
export function createEgress(config: Pick<Config, 'egress'>, resolve?: Resolve): Egress {
  const wall = new Wall(config);
  let agent: Promise<Agent> | undefined;
  const open = async (request: EgressRequest) => {
    // Loaded with the first request: most servers send none, and undici takes a tenth of their memory.
    agent ??= import('./agent.ts').then(({ guardedAgent }) => guardedAgent(wall, resolve));
    return await follow(wall, await agent, request);
  };
  return {
    closePort: (port) => wall.closePort(port),
    objection: (url) => wall.objection(url),
    open,
    send: async (request) => {
      const { body, ...head } = await open(request);
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return { ...head, body: Buffer.concat(parts) };
    },
    close: async () => await (await agent)?.destroy(),
  };
}

async function follow(wall: Wall, agent: Agent, request: EgressRequest): Promise<EgressStream> {
  const { signal, timeoutMs = defaultTimeoutMs, redirects = 'follow' } = request;
  const timer = AbortSignal.timeout(timeoutMs);
  const aborts = { timer, signal: signal === undefined ? timer : AbortSignal.any([timer, signal]) };
  let { url } = request;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const objection = wall.objection(url);
    if (objection !== undefined) throw new EgressError('refused', `the URL ${objection}`);
    if (request.isAllowed?.(url) === false) throw new EgressError('refused', 'the host is not permitted');
    const response = await sendOnce(agent, { ...request, url }, aborts);
    const location = redirects === 'follow' ? redirectLocation(response) : undefined;
    if (location === undefined) return { url, ...toStream(response, request.maxBytes, aborts) };
    response.body.on('error', ignore('the body is not read')).destroy();
    const next = URL.parse(location, url);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || next?.origin !== url.origin) break;
    url = next;
  }
  throw new EgressError('redirected', 'the host redirects the request');
}

/** The signals that end a request early. */
interface AbortSignals {
  timer: AbortSignal;
  /** Aborted by the timer or by the caller. */
  signal: AbortSignal;
}

/** Headers of the connection, with which a caller could deceive the other server (RFC 9110 section 7.6.1). */
const reservedHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Methods that open a tunnel or echo the request. */
const refusedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

async function sendOnce(
  agent: Agent,
  { method, url, headers = [], body }: EgressRequest,
  aborts: AbortSignals,
): Promise<Dispatcher.ResponseData> {
  const name = method.toUpperCase();
  if (refusedMethods.has(name)) throw new EgressError('refused', 'the method is not permitted');
  const sent = headers.filter(([name]) => !reservedHeaders.has(name.toLowerCase())).flat();
  const response = agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: name,
    headers: sent,
    body: body ?? null,
    signal: aborts.signal,
    highWaterMark: maxReadAhead,
  });
  try {
    return await Promise.race([response, rejectOnAbort(aborts.signal)]);
  } catch (error) {
    throw toEgressError(error, aborts);
  }
}

/** Rejects when the signal is aborted: undici reacts to it only once it is connected. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(new Error('aborted'));
    else signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}

function redirectLocation({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  if (!redirectStatuses.has(statusCode)) return undefined;
  return toHeaderList(headers).find(([name]) => name === 'location')?.[1];
}

function toHeaderList(headers: Dispatcher.ResponseData['headers']): HeaderList {
  return Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((single) => [name, single] as const)
  );
}

function toStream(
  { statusCode, statusText, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  aborts: AbortSignals,
): Omit<EgressStream, 'url'> {
  return {
    status: statusCode,
    statusText,
    headers: toHeaderList(headers),
    body: limited(body, maxBytes, aborts),
  };
}

/** Reads a body up to its limit. The connection is closed when the body is too long or the consumer stops early. */
async function* limited(
  body: Readable,
  maxBytes: number,
  aborts: AbortSignals,
): AsyncGenerator<Uint8Array, void, void> {
  let length = 0;
  const guard = new ChunkGuard();
  try {
    for await (const part of body) {
      // Copied, because a part is a view of up to 64 KiB that were received with it.
      const bytes = new Uint8Array(part);
      length += bytes.length;
      if (length > maxBytes) {
        throw new EgressError('too_large', `the response is longer than ${maxBytes} bytes`);
      }
      if (!guard.admits(bytes.length)) {
        throw new EgressError('too_large', 'the response comes in too many chunks of a few bytes');
      }
      yield bytes;
      // The host decides how many chunks arrive at once. Other requests must not wait for all of them.
      if (guard.chunks % chunksPerTurn === 0) await nextTurn();
    }
  } catch (error) {
    throw toEgressError(error, aborts);
  }
}

function toEgressError(error: unknown, { timer, signal }: AbortSignals): EgressError {
  if (error instanceof EgressError) return error;
  const options = { cause: error };
  if (timer.aborted) return new EgressError('timeout', 'the host took too long', options);
  if (signal.aborted) return new EgressError('aborted', 'the request was broken off', options);
  return new EgressError('unreachable', 'the host cannot be reached', options);
}
