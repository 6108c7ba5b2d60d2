// Limits how long a request's body may take. Node has one limit for all; here an upload may take as long as it makes progress.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const bodyTimeoutMs = 60_000;
const progressTimeoutMs = 30_000;
/** The rest of a body that has its response is read, so that the client sees the response; but not for ever. */
const discardTimeoutMs = 10_000;
const progress = Symbol('progress');

/** Ends requests whose body is not complete in time, also when nothing reads it: with `408`, as Node would. */
export function limitBodyTime(server: Server): void {
  // Node's own limit would count a long upload as a slow one.
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
    let timer = setTimeout(expire, bodyTimeoutMs);
    const restart = (timeoutMs: number) => {
      clearTimeout(timer);
      timer = setTimeout(expire, timeoutMs);
    };
    const onProgress = () => restart(progressTimeoutMs);
    request.on(progress, onProgress);
    request.once('close', () => {
      clearTimeout(timer);
      // A reader of chunks may tell of the last one later than this, when the connection serves another request.
      request.off(progress, onProgress);
    });
    response.once('finish', () => {
      if (!request.complete) restart(discardTimeoutMs);
    });
  });
}

/** Notes that a body which may take long has made progress. From the first call on, only progress is required of it. */
export function noteProgress(request: IncomingMessage): void {
  request.emit(progress);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
