// The signals by which a server is stopped.
import { environment } from '../config.ts';
import type { StopSignals } from './serve.ts';

/** One Ctrl-C often arrives twice, from the terminal and from npm: only a later one means impatience. */
const sameRequestMs = 1_000;
const parentPollMs = 250;

/** Listens for signals from now on. */
export function stopSignals(): StopSignals {
  const stop = new AbortController();
  const hurry = new AbortController();
  let asked = Infinity;
  const onSignal = () => {
    if (performance.now() - asked > sameRequestMs) hurry.abort();
    if (!stop.signal.aborted) asked = performance.now();
    stop.abort();
  };
  // SIGHUP comes from a terminal that is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, onSignal);
  if (environment()['npm_command'] !== undefined) onParentEnd(onSignal);
  return { stop: stop.signal, kill: hurry.signal };
}

/**
 * Calls back when the parent process has ended. npx runs a program below a shell, and sends that the signals that it gets
 * itself: the shell ends, and the program gets no signal.
 */
function onParentEnd(onEnd: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnd();
  }, parentPollMs).unref();
}
