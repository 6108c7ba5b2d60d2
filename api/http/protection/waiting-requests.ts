// Limits how many pipelined requests of one connection may wait for their responses.
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Clients that pipeline at all send some dozens. A request that waits costs a hundred times what it took to send it. */
const maxWaiting = 100;

/**
 * Closes connections on which more requests wait. Node stops reading a connection only when long responses wait on it, and by
 * then it has some thousand requests from one packet.
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) {
      // Otherwise Node makes an error with a stack for each of the thousands of requests that a packet may hold.
      request.destroy();
      return;
    }
    // A response gets the socket once those before it are sent.
    if (response.socket === null) {
      const count = (waiting.get(socket) ?? 0) + 1;
      if (count > maxWaiting) {
        socket.destroy();
        return;
      }
      waiting.set(socket, count);
      response.once('socket', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
    }
    handler(request, response);
  };
}
