// How long a request's body may take. Node's own limit is one for all; an upload has as long as it makes progress.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const wholeMilliseconds = 60_000;
const silenceMilliseconds = 30_000;
/** What is left of a body that has its answer is read so that the client sees that, but not for ever. */
const answeredMilliseconds = 10_000;
const progress = Symbol('progress');

/** Ends requests whose body is not complete in time, also when nobody reads it: `408`, as Node itself would. */
export function limitBodyTime(server: Server): void {
  // Node's would count a long upload as a slow one.
  server.requestTimeout = 0;
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request)) return;
    const expire = () => {
      if (response.writableEnded) return request.socket.destroy();
      const error = Object.assign(new Error('the body came too slowly'), {
        code: 'ERR_HTTP_REQUEST_TIMEOUT',
      });
      server.emit('clientError', error, request.socket);
    };
    let timer = setTimeout(expire, wholeMilliseconds);
    const wait = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(expire, milliseconds);
    };
    request.once('close', () => clearTimeout(timer));
    request.on(progress, () => wait(silenceMilliseconds));
    response.once('finish', () => {
      if (!request.complete) wait(answeredMilliseconds);
    });
  });
}

/** The body is one that may take long, and some of it came: from now on it only has to go on coming. */
export function noteProgress(request: IncomingMessage): void {
  request.emit(progress);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
