// The private parts of Node that the supervisor uses. docs/dependencies.md lists them.
import type { Socket } from 'node:net';

/**
 * Stops reading from a pipe that is about to be passed to another process. Node reads from a pipe as soon as it is made, and
 * goes on when it passes it on: bytes that come before the other process has taken it would be lost. Throws when this version
 * of Node cannot stop.
 */
export function stopReading(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return; // the pipe is closed already
  const stop: unknown = Reflect.get(handle, 'readStop');
  if (typeof stop !== 'function') throw new Error('this version of Node cannot pass a pipe on unread');
  Reflect.apply(stop, handle, []);
}
