// Limits request bodies that come in chunks of a few bytes: each costs what one of kilobytes costs, and a packet holds ten
// thousand of them.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type BodyPipe, interceptBody } from '../node-internals.ts';
import { ChunkGuard } from './chunk-guard.ts';

/**
 * Closes connections on which a request's body comes in too many short chunks. Of other chunked bodies, reads one packet in
 * each turn of the event loop: up to 32 may wait for each connection, and Node would take them all at once.
 */
export function limitChunks(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['transfer-encoding'] === undefined) return;
    interceptBody(request, (inner) => paced(request, inner));
    // Must run before Node's own listener, which would discard the rest of the body where no guard counts it.
    response.prependOnceListener('finish', () => {
      if (!request.complete) request.resume();
    });
  });
}

function paced(request: IncomingMessage, inner: BodyPipe): BodyPipe {
  const guard = new ChunkGuard();
  let turn: 'new' | 'used' | 'used, and more is wanted' = 'new';
  const startTurn = () => {
    const isMoreWanted = turn === 'used, and more is wanted';
    turn = 'new';
    if (isMoreWanted) inner.read(0);
  };
  return {
    push: (chunk, encoding) => {
      if (chunk === null) return inner.push(chunk, encoding);
      if (turn === 'new') {
        turn = 'used';
        setImmediate(startTurn);
      }
      if (guard.admits(chunk.length)) inner.push(chunk, encoding);
      else request.socket.destroy();
      return false;
    },
    read: (size) => {
      if (turn === 'new') inner.read(size);
      else turn = 'used, and more is wanted';
    },
  };
}
