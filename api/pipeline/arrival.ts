// A request as it arrives: its id, its sender's address, its start; read once, before any check.
import { randomUUID } from 'node:crypto';
import type { H3Event } from 'h3';
import { fail } from '../errors.ts';

/** What the pipeline knows of a request before it knows the route. */
export interface Arrival {
  event: H3Event;
  method: string;
  requestId: string;
  ip: string;
  now: Date;
  header(name: string): string | undefined;
}

const callersRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/** Reads what every step needs. */
export function arrive(event: H3Event, options: { trustProxy: boolean; now: () => Date }): Arrival {
  const node = event.runtime?.node?.req ?? fail('internal', 'not served by Node');
  const header = (name: string): string | undefined => {
    const value = node.headers[name];
    return typeof value === 'string' ? value : value?.join(', ');
  };
  const wanted = header('x-request-id');
  return {
    event,
    method: node.method ?? 'GET',
    requestId: wanted !== undefined && callersRequestId.test(wanted) ? wanted : randomUUID(),
    ip: clientAddress(
      node.socket.remoteAddress ?? '',
      options.trustProxy ? header('x-forwarded-for') : undefined,
    ),
    now: options.now(),
    header,
  };
}

/** Behind a trusted proxy the last entry is the one that the proxy itself wrote; those before it are hearsay. */
function clientAddress(peer: string, forwardedFor: string | undefined): string {
  const last = forwardedFor?.split(',').at(-1)?.trim();
  const address = last === undefined || last === '' ? peer : last;
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
