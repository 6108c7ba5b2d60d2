// The messages of the WebSocket protocol, of clients and of the server.
import { check } from '../../contract/check.ts';
import { type ApiError, errorBody, fail } from '../../errors.ts';
import { object, oneOf, optional, string } from '../../contract/schema.ts';
import { type RecordEvent, recordJson } from '../event.ts';
import { textFrame } from './frame.ts';

/** The id of a subscription, which the client chooses. */
const name = string({ min: 1, max: 64 });

const messages = {
  auth: object({ type: oneOf(['auth']), token: string({ min: 1, max: 16_384 }) }),
  subscribe: object({
    type: oneOf(['subscribe']),
    id: name,
    collection: string({ min: 1, max: 63 }),
    // As long as a message: the limit of a filter is checked by its parser.
    filter: optional(string({ max: 65_536 })),
    since: optional(string({ max: 256 })),
  }),
  unsubscribe: object({ type: oneOf(['unsubscribe']), id: name }),
  ping: object({ type: oneOf(['ping']) }),
} as const;

/** A message of a client. */
export type ClientMessage =
  | { type: 'auth'; token: string }
  | {
    type: 'subscribe';
    id: string;
    collection: string;
    filter?: string | undefined;
    since?: string | undefined;
  }
  | { type: 'unsubscribe'; id: string }
  | { type: 'ping' };

/** Checks a parsed message. Throws `deserialization` when it is no object, `validation` when it has an invalid member. */
export function checkMessage(value: unknown): ClientMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail('deserialization', 'a message is a JSON object');
  }
  const type = 'type' in value ? value.type : undefined;
  switch (type) {
    case 'auth':
      return check(value, messages.auth);
    case 'subscribe':
      return check(value, messages.subscribe);
    case 'unsubscribe':
      return check(value, messages.unsubscribe);
    case 'ping':
      return check(value, messages.ping);
    default:
      fail('validation', 'type: must be one of auth, subscribe, unsubscribe, ping');
  }
}

/** Parses the text of a message. Throws `deserialization`. */
export function parseMessage(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    fail('deserialization', 'a message is a JSON object');
  }
}

/** The subscription id of a message that may be invalid, so that the error can name it. */
export function subscriptionIdIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  return typeof value.id === 'string' && value.id.length <= 64 ? value.id : undefined;
}

/** `{ type: "subscribed", id, cursor }`. */
export function subscribed(id: string, cursor: string): Buffer {
  return frameOf({ type: 'subscribed', id, cursor });
}

/** `{ type: "reset", id, cursor }`: events were missed; what follows comes after `cursor`. */
export function reset(id: string, cursor: string): Buffer {
  return frameOf({ type: 'reset', id, cursor });
}

/** `{ type: "pong" }`. */
export function pong(): Buffer {
  return frameOf({ type: 'pong' });
}

/** `{ type: "error", id?, code, message, errors? }`. */
export function errorMessage(id: string | undefined, error: ApiError): Buffer {
  return frameOf({ type: 'error', ...(id === undefined ? {} : { id }), ...errorBody(error) });
}

/** `{ type: "event", id, event, cursor, record }`, around the bytes of the record. A custom event has `data` instead. */
export function eventMessage(id: string, event: RecordEvent): readonly Buffer[] {
  const head = `{"type":"event","id":${JSON.stringify(id)},"event":"${event.type}","cursor":"${event.id}","${
    event.custom === undefined ? 'record' : 'data'
  }":`;
  return textFrame(Buffer.from(head), recordJson(event), closing);
}

const closing = Buffer.from('}');

function frameOf(message: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.concat(textFrame(Buffer.from(JSON.stringify(message))));
}
