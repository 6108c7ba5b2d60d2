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

/** Writes the status line and the headers. Throws for a header that HTTP cannot carry, before anything is sent. */
export function writeHead(response: ServerResponse, status: number, headers: HeaderList): ServerResponse {
  // Node's own form of a list of headers, in which a name may come again.
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return response.writeHead(status, flat);
}
