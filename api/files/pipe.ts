// The bytes of a file on their way to a client, as fast as it takes them.
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { release } from '../../storage/blobs/release.ts';

/** The client went away before the end. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client is gone');
    this.name = 'ClientGone';
  }
}

/**
 * Writes all of it, so many bytes, and ends the answer. A chunk is read while another is on its way; the memory of one
 * that has left is let go of at once. Throws `ClientGone`, what reading throws, or that there were fewer bytes or more:
 * then the answer is cut off, so that nobody takes it for whole, nor what is too much for the next answer.
 */
export async function pipe(bytes: Readable, length: number, response: ServerResponse): Promise<void> {
  const { socket } = response.req;
  let leave = (): void => undefined;
  const onClose = () => {
    leave();
    bytes.destroy();
  };
  if (socket.destroyed) onClose();
  socket.once('close', onClose);
  let left = length;
  try {
    for await (const chunk of bytes) {
      left -= chunk.length;
      if (left < 0) throw new Error('the stored bytes are more than the file has');
      await new Promise<void>((resolve, reject) => {
        // Node calls nobody back of an answer that had to wait for the one before it.
        leave = () => reject(new ClientDisconnected());
        response.write(chunk, (error) => error instanceof Error ? reject(error) : resolve());
      });
      release(chunk);
    }
    if (left > 0) throw new Error(`the stored bytes are ${left} fewer than the file has`);
    response.end();
  } catch (error) {
    // Looked at first: to destroy the answer is to destroy the connection.
    const isGone = socket.destroyed;
    response.destroy();
    throw isGone ? new ClientDisconnected() : error;
  } finally {
    socket.off('close', onClose);
  }
}
