// The answer that a connection is busy with.
import { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The answer that is being written, or was and has not left completely; undefined when there is none. Answers to pipelined
 * requests, which wait behind it, cannot be seen here.
 */
export function currentAnswer(socket: Duplex): ServerResponse | undefined {
  // Where Node's server keeps it; there is no other way to ask.
  const current: unknown = Reflect.get(socket, '_httpMessage');
  return current instanceof ServerResponse ? current : undefined;
}
