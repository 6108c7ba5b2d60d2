// Headers that several kinds of responses have, and the writing of a response's head.
import type { ServerResponse } from 'node:http';
import type { Header, HeaderList } from './header-list.ts';

/** The media type of JSON. */
export const jsonContent: Header = ['Content-Type', 'application/json; charset=utf-8'];

/** Forbids every cache to store the response. */
export const notStored: Header = ['Cache-Control', 'no-store'];

/** The headers of a stream of events. Proxies pass it on as it is; nginx would buffer it without `X-Accel-Buffering`. */
export const eventStream: HeaderList = [
  ['Content-Type', 'text/event-stream; charset=utf-8'],
  ['Cache-Control', 'no-store, no-transform'],
  ['X-Accel-Buffering', 'no'],
];

const sandbox: HeaderList = [
  ['Content-Security-Policy', "sandbox; default-src 'none'"],
  ['X-Content-Type-Options', 'nosniff'],
];
const sandboxNames: ReadonlySet<string> = new Set(sandbox.map(([name]) => name));

/**
 * The default headers of a response whose content is a tenant's. Whatever it is, it runs, loads and frames nothing on the
 * server's origin, also where a proxy is to set the default headers.
 */
export function sandboxed(headers: HeaderList): HeaderList {
  return [...headers.filter(([name]) => !sandboxNames.has(name)), ...sandbox];
}

/** Writes the status line and the headers. Throws for a header that HTTP cannot carry, before anything is sent. */
export function writeHead(response: ServerResponse, status: number, headers: HeaderList): ServerResponse {
  // Node's own form of a list of headers, in which a name may come again.
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return response.writeHead(status, flat);
}
