// Connects Node's HTTP server with the h3 app: requests go in, responses go out in one write.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { H3 } from 'h3';
import { FastResponse, NodeRequest, sendNodeResponse } from 'srvx/node';
import type { HeaderList } from './header-list.ts';
import type { ResponseBody } from './response-body.ts';
import { writeHead } from './response-headers.ts';

/** A response that is complete before any of it is sent, as on almost every route. */
export interface BufferedResponse {
  status: number;
  headers: HeaderList;
  body: ResponseBody | null;
}

/**
 * Carries a buffered response through h3, so that its head and body leave in one system call. srvx writes the body and the end
 * separately, which costs a small response a third of its time.
 */
export class PreparedResponse extends FastResponse {
  readonly content: BufferedResponse;

  constructor(content: BufferedResponse) {
    super(null, { status: content.status });
    this.content = content;
  }
}

/** Stands for a response that a handler writes to Node's response itself. */
export class HandledResponse extends FastResponse {}

/** A connection is closed when its client has taken nothing of a response for so long: the response takes memory. */
const defaultSendTimeoutMs = 60_000;

/** What a listener does besides sending responses. */
export interface Listening {
  /** Gets the error of a request whose connection was closed without a complete response. */
  onFailure: (request: IncomingMessage, error: unknown) => void;
  sendTimeoutMs?: number;
}

/** Makes the listener that Node's server calls for each request. */
export function nodeListener(
  app: H3,
  { onFailure, sendTimeoutMs = defaultSendTimeoutMs }: Listening,
): RequestListener {
  return (req, res) => {
    const fail = (error: unknown) => {
      // A client that has left is no failure.
      if (!req.socket.destroyed) onFailure(req, error);
      res.destroy();
    };
    try {
      const response = app.fetch(new NodeRequest({ req, res }));
      if (response instanceof Promise) {
        response.then((ready) => send(res, ready, sendTimeoutMs)).catch(fail);
      } else send(res, response, sendTimeoutMs)?.catch(fail);
    } catch (error) {
      // The app's own `try` has not begun. An error here must not end the process, which serves everybody.
      fail(error);
    }
  };
}

function send(res: ServerResponse, response: Response, sendTimeoutMs: number): Promise<void> | undefined {
  if (response instanceof HandledResponse) return undefined;
  if (!(response instanceof PreparedResponse)) return sendNodeResponse(res, response);
  const { status, headers, body } = response.content;
  writeHead(res, status, headers);
  if (typeof body === 'string' || body === null) res.end(body);
  else {
    for (const part of body) res.write(part);
    res.end();
  }
  // Node closes the connection when nothing has left in this time; after the end of the response it sets its own timeout.
  if (res.writableLength > 0) res.req.socket.setTimeout(sendTimeoutMs);
  return undefined;
}
