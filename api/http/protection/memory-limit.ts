// Limits the memory that the requests of one address take: bodies that have not ended, and responses that are not read.
import type { ServerResponse } from 'node:http';
import { fail } from '../../errors.ts';
import { networkOf } from '../client-network.ts';

/** Shorter bodies and responses, which are most, are not counted. */
export const uncountedBytes = 65_536;

/** An upload or a download counts as so many bytes: a file stays open for it, however slow its client is. */
export const openFileBytes = 1_048_576;

/** Counts bytes for a request until its response is sent. Throws `429 too_many_requests` when its address has too many. */
export type ReserveMemory = (response: ServerResponse, ip: string, bytes: number) => void;

const retryAfter = [['Retry-After', '1']] as const;

/** Allows each address `maxBytes`. A request that is the only one of its address may always have what it needs. */
export function memoryLimit(maxBytes: number): ReserveMemory {
  const byAddress = new Map<string, number>();
  const byResponse = new WeakMap<ServerResponse, number>();
  const release = (response: ServerResponse, key: string) => {
    const left = (byAddress.get(key) ?? 0) - (byResponse.get(response) ?? 0);
    byResponse.delete(response);
    if (left > 0) byAddress.set(key, left);
    else byAddress.delete(key);
  };
  return (response, ip, bytes) => {
    const { socket } = response.req;
    if (bytes < uncountedBytes || socket.destroyed) return;
    const key = networkOf(ip);
    const sum = byAddress.get(key) ?? 0;
    const own = byResponse.get(response);
    if (sum > (own ?? 0) && sum + bytes > maxBytes) {
      fail(
        'too_many_requests',
        'this address has too many long requests under way; send fewer at once',
        retryAfter,
      );
    }
    byAddress.set(key, sum + bytes);
    byResponse.set(response, (own ?? 0) + bytes);
    if (own !== undefined) return;
    onResponseEnd(response, () => release(response, key));
  };
}

/** Calls a listener once, when a response has been sent or its connection closes. */
export function onResponseEnd(response: ServerResponse, listener: () => void): void {
  const { socket } = response.req;
  const onClose = () => {
    response.off('close', onClose);
    socket.off('close', onClose);
    listener();
  };
  response.once('close', onClose);
  // A pipelined response that still waits emits no 'close' when its connection closes.
  socket.once('close', onClose);
}
