// Pipes the bytes of a file to a client, as fast as it reads them.
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { release } from '../../storage/blobs/release.ts';

/** The client disconnected before the end of the response. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client is gone');
    this.name = 'ClientGone';
  }
}

/**
 * Writes `length` bytes and ends the response. A chunk is read while another is being sent, and its memory is released
 * once it is sent. Throws `ClientDisconnected`, a read error, or an error when there are fewer or more bytes. Then the
 * response is cut off, so that the client does not take it for complete.
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
        // Node does not call back for a response that had to wait for the one before it.
        leave = () => reject(new ClientDisconnected());
        response.write(chunk, (error) => error instanceof Error ? reject(error) : resolve());
      });
      release(chunk);
    }
    if (left > 0) throw new Error(`the stored bytes are ${left} fewer than the file has`);
    response.end();
  } catch (error) {
    // Checked first, because destroying the response destroys the connection.
    const isGone = socket.destroyed;
    response.destroy();
    throw isGone ? new ClientDisconnected() : error;
  } finally {
    socket.off('close', onClose);
  }
}
