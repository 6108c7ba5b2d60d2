// A request as it arrives: its id, its sender's address, its start; read once, before any check.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { H3Event } from 'h3';
import { uuidV4Source } from '../../storage/sql/ids.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { ReserveMemory } from './protection/memory-limit.ts';

/** What the pipeline knows of a request before it knows the route. */
export interface RequestInfo {
  event: H3Event;
  method: string;
  requestId: string;
  ip: string;
  now: Date;
  header(name: string): string | undefined;
  /** Node's own response, for an answer that goes past everything between. */
  nodeResponse(): ServerResponse;
  /** Counts bytes that are kept for it until its answer is through. Throws `429 too_many_requests`. */
  reserve(bytes: number): void;
}

/** An id for a request that brings none. */
export const newRequestId = uuidV4Source();
const callersRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/** Reads what every step needs. */
export function readRequestInfo(
  event: H3Event,
  { deps, hold }: { deps: Pick<Deps, 'config' | 'now'>; hold: ReserveMemory },
): RequestInfo {
  const { req: node, res } = event.runtime?.node ?? fail('internal', 'not served by Node');
  const ip = clientAddressOf(node, deps.config.http.trust_proxy);
  const response = () =>
    res instanceof ServerResponse ? res : fail('internal', 'not served by Node over HTTP/1.1');
  return {
    event,
    method: node.method ?? 'GET',
    requestId: requestIdOf(node),
    ip,
    now: deps.now(),
    header: (name) => headerOf(node, name),
    nodeResponse: response,
    reserve: (bytes) => hold(response(), ip, bytes),
  };
}

type Heading = Pick<IncomingMessage, 'headers' | 'socket'>;

/** A header, by its name in lower case; several lines of it joined. */
export function headerOf({ headers }: Heading, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.join(', ');
}

/** The caller's own request id, or a new one. */
export function requestIdOf(request: Heading): string {
  const wanted = headerOf(request, 'x-request-id');
  return wanted !== undefined && callersRequestId.test(wanted) ? wanted : newRequestId();
}

/** The client's address, by the proxy in front where that is trusted. */
export function clientAddressOf(request: Heading, trustProxy: boolean): string {
  return clientAddress(
    request.socket.remoteAddress ?? '',
    trustProxy ? headerOf(request, 'x-forwarded-for') : undefined,
  );
}

/** Behind a trusted proxy the last entry is the one that the proxy itself wrote; those before it are hearsay. */
function clientAddress(peer: string, forwardedFor: string | undefined): string {
  const last = forwardedFor?.split(',').at(-1)?.trim();
  const address = last === undefined || last === '' ? peer : withoutPort(last);
  // IPv4 on a socket of IPv6: https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.2
  return /^::ffff:(?=\d+\.)/i.test(address) ? address.slice(7) : address;
}

/** Some proxies add the port, of which every connection has another, as in https://www.rfc-editor.org/rfc/rfc7239#section-6 */
function withoutPort(entry: string): string {
  const [, six, four] = /^\[([\da-f:.]+)\](?::\d+)?$|^([\d.]+):\d+$/i.exec(entry) ?? [];
  return six ?? four ?? entry;
}
