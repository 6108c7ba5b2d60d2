// Starts of a runner with nothing to run: it says something on its channel, is looked at, and ends.
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, type Running, spawn } from '../spawn.ts';

/** A start of Deno takes a tenth of this on a machine that is overloaded. Milliseconds. */
const deadline = 10_000;

/**
 * Starts a runner, waits until it has said something, and calls `look`; it is gone when this resolves. Throws its own
 * last words where it ends early, and what `look` throws.
 */
export async function tryRunner(command: Command, look: (running: Running) => Promise<void>): Promise<void> {
  const heard: string[] = [];
  const running = spawn({ ...command, onLine: (line) => void (heard.length < 20 && heard.push(line)) });
  try {
    await hello(running, heard);
    await look(running);
  } finally {
    running.killGroup();
    await running.exited;
  }
}

/** Closes its channel and waits for its own end, which is not waited for longer than for its start. */
export async function letEnd({ socket, exited, killGroup }: Running): Promise<void> {
  const late = setTimeout(killGroup, deadline);
  socket?.end();
  await exited;
  clearTimeout(late);
}

async function hello({ socket, exited, closed }: Running, heard: readonly string[]): Promise<void> {
  const timer = new AbortController();
  const said = new Promise((resolve) => socket?.once('data', resolve));
  const ended = exited.then(async ({ code, signal }) => {
    await closed;
    throw new Error(heard.find((line) => line.trim() !== '') ?? `the runner ended with ${signal ?? code}`);
  });
  const late = pause(deadline, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`a runner does not start within ${deadline / 1000} s`);
  });
  ended.catch(() => 'known by the race');
  late.catch(() => 'known by the race');
  await Promise.race([said, ended, late]).finally(() => timer.abort());
}
