// Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html): one subscription on one response.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ApiError, fail } from '../../errors.ts';
import type { HeaderList } from '../../http/header-list.ts';
import { eventStream, writeHead } from '../../http/response-headers.ts';
import type { Hub } from '../hub.ts';
import type { StreamHolder } from '../ports.ts';
import type { Wire } from '../stream.ts';
import type { Topic } from '../topic.ts';

/** A request for the events of a collection. */
export interface EventsRequest {
  /** Node's own response, since everything around it would copy the frames. */
  response: ServerResponse;
  topic: Topic;
  holder: StreamHolder;
  filter: string | undefined;
  /** The `Last-Event-ID` header. */
  lastEventId: string | undefined;
  /** The default headers: security, CORS, the request id. */
  headers: HeaderList;
}

const ping = Buffer.from(': ping\n\n');
/** The time after which a browser reconnects when its rule or filter could not be evaluated, in milliseconds. */
const failurePauseMs = 30_000;
/** The time that a stream waits for the response before it on its connection, in milliseconds. */
const maxWaitMs = 5_000;

/**
 * Begins the stream and returns. Throws `ApiError` before anything is sent: 429 over a limit, 401, 403 or 404 by the rules,
 * 400 for the filter, or behind a slow response on the same connection.
 */
export async function serveEvents(hub: Hub, request: EventsRequest): Promise<void> {
  const { response, topic, holder, filter, lastEventId } = request;
  const claim = hub.claimStream(holder, filter);
  try {
    const socket = response.socket ?? await turnOf(response);
    // Not before: the collection may have been replaced while this request waited.
    const authorization = await hub.authorize({ topic, ...holder, filter });
    if (socket.destroyed) return claim.release();
    begin(request);
    if (response.req.method === 'HEAD') {
      claim.release();
      response.end();
      return;
    }
    const stream = hub.attach(socket, { place: topic, holder, wire: wireOf(response), claim });
    response.once('close', () => stream.closed());
    hub.subscribe(
      stream,
      { id: '', collection: topic.collection, filter, since: lastEventId, authorization },
      (cursor) => response.write(opening(cursor)),
    );
  } catch (error) {
    claim.release();
    throw error;
  }
}

/**
 * The socket, once the responses before this one are complete. A client that has all of a response may send the next
 * request before its end is known here. Behind an endless response, events would pile up without bound.
 */
async function turnOf(response: ServerResponse): Promise<Socket> {
  const signal = AbortSignal.timeout(maxWaitMs);
  await once(response, 'socket', { signal }).catch(() => undefined);
  return response.socket ?? fail('validation', 'the connection is busy with another response');
}

/** The id dispatches no event, but lets a browser that disconnects before its first event resume. */
function opening(cursor: string): string {
  return `: connected\nretry: 3000\nid: ${cursor}\n\n`;
}

function begin({ response, headers }: EventsRequest): void {
  // Neither a length nor chunks: the body ends with the connection (RFC 9112 section 6.3), and a frame is the same
  // bytes on every socket.
  response.removeHeader('Transfer-Encoding');
  writeHead(response, 200, [...headers, ...eventStream, ['Connection', 'close']]);
}

function wireOf(response: ServerResponse): Wire {
  return {
    isSingle: true,
    ping,
    events: ({ frames }) => frames,
    // A browser does not dispatch an event without data.
    reset: (_id, cursor) => Buffer.from(`id: ${cursor}\nevent: reset\ndata: {}\n\n`),
    // The same event would fail in every replay, so the cursor passes it, and the retry is slow.
    failed: (_id, cursor) =>
      Buffer.from(`retry: ${failurePauseMs}\nid: ${cursor}\nevent: reset\ndata: {}\n\n`),
    lost: (_id, error) => error.status === 401 || error.status === 403 ? unauthorized(error) : undefined,
    close({ why, message }) {
      if (why === 'unauthorized') response.socket?.write(unauthorized({ code: why, message }));
      response.end();
    },
  };
}

function unauthorized({ code, message }: Pick<ApiError, 'code' | 'message'>): Buffer {
  return Buffer.from(`event: unauthorized\ndata: ${JSON.stringify({ code, message })}\n\n`);
}
