// Runs a command to its exit.
import { type Command, type Exit, spawn } from './spawn.ts';

/** Runs a command and returns its exit with the last 20 lines of its output. An aborted signal kills it. */
export async function runToEnd(
  command: Omit<Command, 'onLine'>,
  signal?: AbortSignal,
): Promise<Exit & { lines: string[] }> {
  const lines: string[] = [];
  const onLine = (line: string) => void (lines.push(line) > 20 && lines.shift());
  const running = spawn({ ...command, onLine });
  const abort = () => running.killGroup();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  const exit = await running.exited;
  await running.closed;
  signal?.removeEventListener('abort', abort);
  return { ...exit, lines };
}
