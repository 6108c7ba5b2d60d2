// Starts of a runner with nothing to run: it says something on its channel, is looked at, and ends.
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, type RunningProcess, spawn } from '../spawn.ts';

/** A start of Deno takes a tenth of this on a machine that is overloaded. Milliseconds. */
const timeoutMs = 10_000;

/**
 * Starts a runner, waits until it has said something, and calls `look`; it is gone when this resolves. Throws its own
 * last words where it ends early, and what `look` throws.
 */
export async function smokeTest(
  command: Command,
  look: (running: RunningProcess) => Promise<void>,
): Promise<void> {
  const heard: string[] = [];
  const running = spawn({ ...command, onLine: (line) => void (heard.length < 20 && heard.push(line)) });
  try {
    await untilFirstBytes(running, heard);
    await look(running);
  } finally {
    running.killGroup();
    await running.exited;
  }
}

/** Closes its channel and waits for its own end, which is not waited for longer than for its start. */
export async function endGracefully({ socket, exited, killGroup }: RunningProcess): Promise<void> {
  const late = setTimeout(killGroup, timeoutMs);
  socket?.end();
  await exited;
  clearTimeout(late);
}

async function untilFirstBytes(
  { socket, exited, closed }: RunningProcess,
  heard: readonly string[],
): Promise<void> {
  const timer = new AbortController();
  const said = new Promise((resolve) => socket?.once('data', resolve));
  const ended = exited.then(async ({ code, signal }) => {
    await closed;
    throw new Error(heard.find((line) => line.trim() !== '') ?? `the runner ended with ${signal ?? code}`);
  });
  const late = pause(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`a runner does not start within ${timeoutMs / 1000} s`);
  });
  ended.catch(() => 'known by the race');
  late.catch(() => 'known by the race');
  await Promise.race([said, ended, late]).finally(() => timer.abort());
}
