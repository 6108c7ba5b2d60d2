// The facts of a request before any check: its id, its client's address, its time.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { H3Event } from 'h3';
import { uuidV4Source } from '../../storage/sql/ids.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { AppHost } from './hosts/hosts.ts';
import { onResponseEnd, type ReserveMemory } from './protection/memory-limit.ts';

/** A request as every step of the pipeline sees it. */
export interface RequestInfo {
  event: H3Event;
  method: string;
  requestId: string;
  /** The app whose origin the request is for; undefined at the server's own. */
  appHost: AppHost | undefined;
  /** The client's address. */
  ip: string;
  /** The time at which the request arrived; the one reading of the clock. */
  now: Date;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Node's own response, for responses that handlers write themselves. */
  nodeResponse(): ServerResponse;
  /** Counts bytes that stay in memory until the response is sent. Throws `429 too_many_requests`. */
  reserve(bytes: number): void;
  /** True when the client has closed the connection. */
  isDisconnected(): boolean;
  /** Calls a listener when the response has been sent, or the client has gone. */
  onEnd(listener: () => void): void;
}

/** Makes an id for a request that brings none. */
export const newRequestId = uuidV4Source();
const validRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/** Reads what every step needs. */
export function readRequestInfo(
  event: H3Event,
  { deps, reserve }: { deps: Pick<Deps, 'config' | 'hosts' | 'now'>; reserve: ReserveMemory },
): RequestInfo {
  const { req: node, res } = event.runtime?.node ?? fail('internal', 'not served by Node');
  const ip = clientAddressOf(node, deps.config.http.trust_proxy);
  const nodeResponse = () =>
    res instanceof ServerResponse ? res : fail('internal', 'not served by Node over HTTP/1.1');
  return {
    event,
    method: node.method ?? 'GET',
    requestId: requestIdOf(node),
    appHost: deps.hosts.appOf(node.headers.host),
    ip,
    now: deps.now(),
    header: (name) => headerOf(node, name),
    nodeResponse,
    reserve: (bytes) => reserve(nodeResponse(), ip, bytes),
    isDisconnected: () => node.socket.destroyed,
    onEnd: (listener) => onResponseEnd(nodeResponse(), listener),
  };
}

type RequestHead = Pick<IncomingMessage, 'headers' | 'socket'>;

/** A header, by its name in lower case; several lines of it joined. */
export function headerOf({ headers }: RequestHead, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.join(', ');
}

/** The request id that the caller has sent, or a new one. */
export function requestIdOf(request: RequestHead): string {
  const sent = headerOf(request, 'x-request-id');
  return sent !== undefined && validRequestId.test(sent) ? sent : newRequestId();
}

/**
 * The client's address. Behind a trusted proxy it is the last entry of `X-Forwarded-For`, which the proxy itself wrote; the
 * client may have made up those before it.
 */
export function clientAddressOf(request: RequestHead, trustProxy: boolean): string {
  const forwarded = trustProxy ? headerOf(request, 'x-forwarded-for') : undefined;
  const last = forwarded?.split(',').at(-1)?.trim();
  return last === undefined || last === '' ? peerAddress(request.socket) : unmapped(withoutPort(last));
}

/** The address at the other end of a connection: the client's, or that of a proxy. */
export function peerAddress({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return unmapped(remoteAddress);
}

/** IPv4 on a socket of IPv6: https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.2 */
function unmapped(address: string): string {
  return /^::ffff:(?=\d+\.)/i.test(address) ? address.slice(7) : address;
}

/** Some proxies add the port, as in https://www.rfc-editor.org/rfc/rfc7239#section-6; it differs for each connection. */
function withoutPort(entry: string): string {
  const [, six, four] = /^\[([\da-f:.]+)\](?::\d+)?$|^([\d.]+):\d+$/i.exec(entry) ?? [];
  return six ?? four ?? entry;
}
