// Bodies in chunks of a few bytes: each chunk costs what kilobytes cost, and a packet holds ten thousand of them.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { PieceCount } from './chunk-guard.ts';

/**
 * Closes connections on which the body of a request comes in such chunks. Of others one packet is read a turn of the event
 * loop: up to 32 may wait for each connection, and Node would take them all at once.
 */
export function boundChunks(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['transfer-encoding'] === undefined) return;
    bound(request);
    // Before Node hears of it, which would throw away what is left where nobody sees it.
    response.prependOnceListener('finish', () => {
      if (!request.complete) request.resume();
    });
  });
}

/** Between Node's parser, which pushes what comes, and the request as a stream, which says when it wants more. */
function bound(request: IncomingMessage): void {
  const push = request.push.bind(request);
  const readOn = request._read.bind(request);
  const count = new PieceCount();
  let turn: 'begins' | 'is over' | 'is over, and more is wanted' = 'begins';
  const begin = () => {
    const isWanted = turn === 'is over, and more is wanted';
    turn = 'begins';
    if (isWanted) readOn(0);
  };
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    if (turn === 'begins') {
      turn = 'is over';
      setImmediate(begin);
    }
    if (count.admits(chunk.length)) push(chunk, encoding);
    else request.socket.destroy();
    return false;
  };
  request._read = (size) => {
    if (turn === 'begins') readOn(size);
    else turn = 'is over, and more is wanted';
  };
}
