// How many requests of one connection may wait behind one that is not answered yet.
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** What pipelines at all sends some dozens. Each that waits costs a hundred times what it took to send. */
const mostWaiting = 100;

/**
 * Cuts connections off on which more wait. Node stops reading one only when the answers that wait are long, and then has
 * some thousand requests from the packet that it is at.
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) {
      // Else Node makes an error of it, with a stack: of the thousands that a packet can hold, as much work as they were.
      request.destroy();
      return;
    }
    // An answer has its connection once those before it are through.
    if (response.socket === null) {
      const count = (waiting.get(socket) ?? 0) + 1;
      if (count > mostWaiting) {
        socket.destroy();
        return;
      }
      waiting.set(socket, count);
      response.once('socket', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
    }
    handler(request, response);
  };
}
