// What the requests of one address keep in memory: bodies that it has not sent to their end, answers that it does not take.
import type { ServerResponse } from 'node:http';
import { fail } from '../../errors.ts';
import { networkOf } from '../client-network.ts';

/** Most bodies and answers are shorter, and need no count. */
export const uncountedBytes = 65_536;

/** What an upload or a download is counted as: a file is open for it, however long its client likes to rest. */
export const openFileBytes = 1_048_576;

/** Counts bytes for a request until its answer is through. Throws `429 too_many_requests` when its address holds too much. */
export type ReserveMemory = (response: ServerResponse, ip: string, bytes: number) => void;

const retryAfter = [['Retry-After', '1']] as const;

/** Every address may hold `most` bytes; one request alone may always hold what it needs. */
export function memoryLimit(most: number): ReserveMemory {
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
    if (sum > (own ?? 0) && sum + bytes > most) {
      fail(
        'too_many_requests',
        'this address has too many long requests under way; send fewer at once',
        retryAfter,
      );
    }
    byAddress.set(key, sum + bytes);
    byResponse.set(response, (own ?? 0) + bytes);
    if (own !== undefined) return;
    const over = () => {
      response.off('close', over);
      socket.off('close', over);
      release(response, key);
    };
    response.once('close', over);
    // An answer that had to wait for the one before it is told nothing when its connection closes.
    socket.once('close', over);
  };
}
