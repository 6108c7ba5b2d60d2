// The headers of an answer, and how its head is written.
import { ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';

/** A header; `line`: as it is sent, of one that is always the same. */
export type AnswerHeader = readonly [name: string, value: string, line?: string];

/** Headers in their order, as in a `HeaderList`. */
export type AnswerHeaders = readonly AnswerHeader[];

/** What Node decides by how an answer ends and whether its connection stays: it must see these. */
const framing = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'te',
  'trailer',
  'transfer-encoding',
]);

/** A header that is always the same: looked at once, here, and not in each answer. Throws what HTTP cannot carry. */
export function constantHeader(name: string, value: string): AnswerHeader {
  validateHeaderName(name);
  validateHeaderValue(name, value);
  if (framing.has(name.toLowerCase())) throw new TypeError(`${name} is not for all answers`);
  return [name, value, `${name}: ${value}\r\n`];
}

/** What an answer of JSON says of itself. */
export const jsonContent = constantHeader('Content-Type', 'application/json; charset=utf-8');

/** For answers that no cache may keep. */
export const notStored = constantHeader('Cache-Control', 'no-store');

/** For an answer that is a stream of events, which goes through proxies as it is; nginx would gather it otherwise. */
export const eventStream: AnswerHeaders = [
  ['Content-Type', 'text/event-stream; charset=utf-8'],
  ['Cache-Control', 'no-store, no-transform'],
  ['X-Accel-Buffering', 'no'],
];

type StoreHeader = (this: ServerResponse, firstLine: string, headers: readonly string[]) => void;

/** What Node's `writeHead` ends with: puts the head together, and decides about the connection. Not a public method. */
const storeHeader = storeHeaderOf(ServerResponse.prototype);

function storeHeaderOf(prototype: ServerResponse): StoreHeader | undefined {
  const found: unknown = Reflect.get(prototype, '_storeHeader');
  return typeof found === 'function' ? (found as StoreHeader) : undefined;
}

/**
 * As `response.writeHead`. That looks at each letter of each header of every answer, which is a tenth of the time that a small
 * one takes; constant ones are sent as they are. Throws for a header that HTTP cannot carry, when nothing is sent.
 */
export function writeHead(response: ServerResponse, status: number, headers: AnswerHeaders): ServerResponse {
  const isUsual = status >= 200 && status !== 204 && status !== 304 && !response.headersSent &&
    response.req.headers.expect === undefined;
  if (!isUsual || storeHeader === undefined) {
    return response.writeHead(status, headers.flatMap(([name, value]) => [name, value]));
  }
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
  const others: string[] = [];
  for (const [name, value, line] of headers) {
    if (line === undefined) others.push(name, value);
    else lines += line;
  }
  response.statusCode = status;
  storeHeader.call(response, lines, others);
  return response;
}
