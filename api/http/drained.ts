// Waits for the client of a response that is written in pieces.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** A client that reads nothing for this long is disconnected. */
const stallMs = 60_000;

/** Resolves when the response takes more, and when the client has left or was disconnected. */
export async function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return;
  const waiting = new AbortController();
  const timer = setTimeout(() => response.destroy(), stallMs);
  await Promise.race([
    once(response, 'drain', { signal: waiting.signal }),
    once(response, 'close', { signal: waiting.signal }),
  ]).finally(() => {
    clearTimeout(timer);
    waiting.abort();
  });
}
