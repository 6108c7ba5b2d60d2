// Between Node's HTTP server and the h3 app: requests go in, answers go out in one write.
import type { RequestListener, ServerResponse } from 'node:http';
import type { H3 } from 'h3';
import { FastResponse, NodeRequest, sendNodeResponse } from 'srvx/node';
import type { HeaderList } from './header-list.ts';
import { writeHead } from './response-headers.ts';
import type { ResponseBody } from './response-body.ts';

/** The whole answer, known at once: what almost every route gives. */
export interface BufferedResponse {
  status: number;
  headers: HeaderList;
  body: ResponseBody | null;
}

/**
 * A response whose head and body leave in one system call. srvx writes the body and the end apart, which costs a small
 * answer a third of its time.
 */
export class PreparedResponse extends FastResponse {
  readonly content: BufferedResponse;

  constructor(answer: BufferedResponse) {
    super(null, { status: answer.status });
    this.content = answer;
  }
}

/** Stands for an answer that somebody else writes to Node's response. */
export class HandledResponse extends FastResponse {}

/** An answer of which a client takes nothing for so long, in milliseconds, is for nobody; its memory is. */
const mostPatience = 60_000;

/** What Node's server calls for each request. */
export function nodeListener(app: H3, patience = mostPatience): RequestListener {
  return (req, res) => {
    try {
      const response = app.fetch(new NodeRequest({ req, res }));
      if (response instanceof Promise) {
        response.then((ready) => send(res, ready, patience), () => res.destroy());
      } else send(res, response, patience);
    } catch {
      // Before the app's own `try`: it must not end the process, which serves everybody.
      res.destroy();
    }
  };
}

function send(res: ServerResponse, response: Response, patience: number): void {
  if (response instanceof HandledResponse) return;
  if (!(response instanceof PreparedResponse)) {
    sendNodeResponse(res, response).catch(() => res.destroy());
    return;
  }
  const { status, headers, body } = response.content;
  try {
    writeHead(res, status, headers);
    if (typeof body === 'string' || body === null) res.end(body);
    else {
      for (const piece of body) res.write(piece);
      res.end();
    }
    // Node looks whether anything has left since it looked last. With the end of the answer it sets a time of its own.
    if (res.writableLength > 0) res.req.socket.setTimeout(patience);
  } catch {
    // A header that HTTP cannot carry: nothing was sent, and there is no answer left to give.
    res.destroy();
  }
}
