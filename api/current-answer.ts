// The answer that a connection is busy with.
import { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The one that is written, or was and is not through; those that wait behind it are not known here. */
export function currentAnswer(socket: Duplex): ServerResponse | undefined {
  // Where Node's server keeps it; there is no other way to ask.
  const current: unknown = Reflect.get(socket, '_httpMessage');
  return current instanceof ServerResponse ? current : undefined;
}
