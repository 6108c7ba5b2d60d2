// The one client for requests to other servers: every connection is checked, every answer is bounded.
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Agent, Dispatcher } from 'undici';
import type { Config } from '../../supervisor/protocol.ts';
import type { HeaderList } from '../http/header-list.ts';
import { ChunkGuard } from '../http/protection/chunk-guard.ts';
import { EgressError } from './failure.ts';
import type { Resolve } from './names.ts';
import { Wall } from './wall.ts';

/** One request. */
export interface EgressRequest {
  method: string;
  url: URL;
  /** Those of the connection (`Host`, `Content-Length` …) are left out: they are ours to set. */
  headers?: HeaderList;
  body?: string | Uint8Array | Readable;
  /** Ends the request, and the reading of its answer. */
  signal?: AbortSignal;
  /** Most bytes of the answer's body. */
  maxBytes: number;
  /** For everything, from the name's resolution to the last byte. Default: 5,000. */
  timeoutMs?: number;
  /** Whether this URL may be asked at all; called for the request and for each redirect that is followed. */
  isAllowed?: (url: URL) => boolean;
  /** `follow` (default): a GET or HEAD goes along on the same origin, all else is refused; `answer`: they are answers. */
  redirects?: 'follow' | 'answer';
}

/** An answer whose body is still coming; reading it throws `EgressError`. */
export interface EgressStream {
  /** What answered: another than was asked where it redirected. */
  url: URL;
  status: number;
  /** Of the host's own words. */
  statusText: string;
  headers: HeaderList;
  body: AsyncIterable<Uint8Array>;
}

/** A whole answer. */
export interface EgressResponse {
  /** What answered: another than was asked where it redirected. */
  url: URL;
  status: number;
  /** Of the host's own words. */
  statusText: string;
  headers: HeaderList;
  body: Buffer;
}

/** The client. */
export interface Egress {
  /** Why a URL is refused before its name is resolved, or undefined; for settings that hold URLs. */
  objection(url: URL): string | undefined;
  /** Sends a request and answers as soon as the headers are there. Throws `EgressError`. */
  open(request: EgressRequest): Promise<EgressStream>;
  /** Sends a request and reads the whole answer. Throws `EgressError`. */
  send(request: EgressRequest): Promise<EgressResponse>;
  /** Breaks off what is in flight. */
  close(): Promise<void>;
}

const defaultTimeoutMs = 5_000;
const maxRedirects = 3;
/** Bytes of an answer that are taken before somebody reads it; each may be a chunk. */
const maxReadAhead = 16_384;
/** Of an answer in chunks, so many are read a turn of the event loop. */
const chunksPerTurn = 256;

/** Of the statuses from 300, those that send a client elsewhere: https://fetch.spec.whatwg.org/#redirect-status */
export const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `resolve` stands in for this machine's resolver. */
export function createEgress(config: Pick<Config, 'egress' | 'http'>, resolve?: Resolve): Egress {
  const wall = new Wall(config);
  let agent: Promise<Agent> | undefined;
  const open = async (request: EgressRequest) => {
    // Loaded when it is needed: most servers never ask another, and the client is a tenth of their memory.
    agent ??= import('./agent.ts').then(({ guardedAgent }) => guardedAgent(wall, resolve));
    return await openWithin(wall, await agent, request);
  };
  return {
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

async function openWithin(wall: Wall, agent: Agent, request: EgressRequest): Promise<EgressStream> {
  const { signal, timeoutMs: milliseconds = defaultTimeoutMs, redirects = 'follow' } = request;
  const timer = AbortSignal.timeout(milliseconds);
  const within = { agent, timer, signal: signal === undefined ? timer : AbortSignal.any([timer, signal]) };
  let { url } = request;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const objection = wall.objection(url);
    if (objection !== undefined) throw new EgressError('refused', `the URL ${objection}`);
    if (request.isAllowed?.(url) === false) throw new EgressError('refused', 'the host is not permitted');
    const answer = await sendOnce({ ...request, url }, within);
    const location = redirects === 'follow' ? redirectLocation(answer) : undefined;
    if (location === undefined) return { url, ...toStream(answer, request.maxBytes, within) };
    answer.body.on('error', () => undefined).destroy();
    const next = URL.parse(location, url);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || next?.origin !== url.origin) break;
    url = next;
  }
  throw new EgressError('redirected', 'the host redirects the request');
}

/** What ends a request early. */
interface Limits {
  agent: Agent;
  timer: AbortSignal;
  /** The timer, and the caller's own. */
  signal: AbortSignal;
}

/** Headers of the connection, which a caller could deceive the other side with (RFC 9110 section 7.6.1). */
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
/** They make a tunnel, or echo the request. */
const refusedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

async function sendOnce(
  { method, url, headers = [], body }: EgressRequest,
  limits: Limits,
): Promise<Dispatcher.ResponseData> {
  const name = method.toUpperCase();
  if (refusedMethods.has(name)) throw new EgressError('refused', 'the method is not permitted');
  const sent = headers.filter(([name]) => !reservedHeaders.has(name.toLowerCase())).flat();
  const asked = limits.agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: name,
    headers: sent,
    body: body ?? null,
    signal: limits.signal,
    highWaterMark: maxReadAhead,
  });
  try {
    return await Promise.race([asked, rejectOnAbort(limits.signal)]);
  } catch (error) {
    throw toEgressError(error, limits);
  }
}

/** Rejects when the signal comes: undici itself heeds it only once there is a connection. */
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
  limits: Limits,
): Omit<EgressStream, 'url'> {
  return {
    status: statusCode,
    statusText,
    headers: toHeaderList(headers),
    body: bounded(body, maxBytes, limits),
  };
}

/** A consumer that stops early, and an answer that is too long, break the connection off. */
async function* bounded(
  body: Readable,
  maxBytes: number,
  limits: Limits,
): AsyncGenerator<Uint8Array, void, void> {
  let length = 0;
  const guard = new ChunkGuard();
  try {
    for await (const part of body) {
      // Copied: a part holds on to all that came with it, and a host can send 64 KiB around each byte.
      const bytes = new Uint8Array(part);
      length += bytes.length;
      if (length > maxBytes) {
        throw new EgressError('too_large', `the answer is longer than ${maxBytes} bytes`);
      }
      if (!guard.admits(bytes.length)) {
        throw new EgressError('too_large', 'the answer comes in too many chunks of a few bytes');
      }
      yield bytes;
      // The host decides how many come at once; those who wait meanwhile have done nothing.
      if (guard.chunks % chunksPerTurn === 0) await nextTurn();
    }
  } catch (error) {
    throw toEgressError(error, limits);
  }
}

function toEgressError(error: unknown, { timer, signal }: Limits): EgressError {
  if (error instanceof EgressError) return error;
  const options = { cause: error };
  if (timer.aborted) return new EgressError('timeout', 'the host took too long', options);
  if (signal.aborted) return new EgressError('aborted', 'the request was broken off', options);
  return new EgressError('unreachable', 'the host cannot be reached', options);
}
