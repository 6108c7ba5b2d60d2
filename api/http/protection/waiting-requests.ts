// Serves the pipelined requests of a connection one after the other, and limits how many may wait.
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More requests than any client sends ahead that means well. */
const maxWaiting = 10;
/** A packet may hold some thousand requests, and each costs a hundred times what it took to send it. */
const maxIgnored = 100;

/** Runs callbacks in later turns of the event loop. */
export type RunInTurn = (key: string, run: () => void) => void;

interface Waiting {
  count: number;
  /** The last request that gets a response. */
  last: ServerResponse;
  ignored: number;
}

/**
 * Makes what wraps the listeners of a server, so that each pipelined request is held until the ones before it have their
 * responses, and then until it is its address's turn: Node gives all of a packet to its listeners at once. A connection on
 * which more wait than may is closed after the last of those. Requests that find no other before them pay nothing.
 */
export function holdPipelined(runInTurn: RunInTurn): (handler: RequestListener) => RequestListener {
  const connections = new WeakMap<Socket, Waiting>();
  return (handler) => (request, response) => {
    const { socket } = request;
    if (socket.destroyed) {
      // Otherwise Node makes an error with a stack for each of the thousands of requests that a packet may hold.
      request.destroy();
      return;
    }
    // A response gets the socket once those before it are sent.
    if (response.socket !== null) return handler(request, response);
    const waiting = connections.get(socket) ?? { count: 0, last: response, ignored: 0 };
    connections.set(socket, waiting);
    if (waiting.count >= maxWaiting || waiting.ignored > 0) return ignore(socket, waiting);
    waiting.count++;
    waiting.last = response;
    response.once('socket', () => {
      waiting.count--;
      runInTurn(socket.remoteAddress ?? '', () => {
        if (!socket.destroyed) handler(request, response);
      });
    });
  };
}

/** Leaves a request without a response, and makes the last one with a response the last one of its connection. */
function ignore(socket: Socket, waiting: Waiting): void {
  waiting.ignored++;
  waiting.last.shouldKeepAlive = false;
  if (waiting.ignored > maxIgnored) socket.destroy();
}

/** Makes turns in which one callback of each key runs, in the order in which the keys came. */
export function roundRobin(): RunInTurn {
  const byKey = new Map<string, (() => void)[]>();
  const runTurn = () => {
    for (const [key, callbacks] of byKey) {
      callbacks.shift()?.();
      if (callbacks.length === 0) byKey.delete(key);
    }
    if (byKey.size > 0) setImmediate(runTurn);
  };
  return (key, run) => {
    const callbacks = byKey.get(key);
    if (callbacks !== undefined) return void callbacks.push(run);
    if (byKey.size === 0) setImmediate(runTurn);
    byKey.set(key, [run]);
  };
}
