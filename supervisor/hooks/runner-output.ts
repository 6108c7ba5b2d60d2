// Passes on a hook runner's standard output and error at a bounded rate, harmless to a terminal.
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** Bytes that an app may write at once, and a second for long. */
const bytesPerSecond = 65_536;
/** Milliseconds that are waited for the last words of a process that is dead. */
const flushMs = 500;

/** A token bucket of bytes. Times in milliseconds. */
export class OutputBudget {
  #left = bytesPerSecond;
  #at = 0;

  /** Takes the bytes, which may be more than there are, and returns how long to wait before the next. */
  take(bytes: number, now: number): number {
    this.#left = Math.min(bytesPerSecond, this.#left + (now - this.#at) * bytesPerSecond / 1000) - bytes;
    this.#at = now;
    return Math.max(0, -this.#left * 1000 / bytesPerSecond);
  }
}

/** The output of one process on its way. */
export interface OutputRelay {
  /** For when the process is dead: reads what is left of its output. */
  finish: () => Promise<void>;
}

/** Passes output on, as fast as the budget allows: a process that writes faster is made to wait. */
export function relayOutput(
  output: Record<'stdout' | 'stderr', Readable>,
  { budget, onText, now }: { budget: OutputBudget; onText: (text: string) => void; now: () => number },
): OutputRelay {
  const dead = new AbortController();
  const follow = async (stream: Readable) => {
    // Iteration reads no further while a wait is on.
    for await (const chunk of stream.setEncoding('utf8')) {
      const text = escapeControls(String(chunk));
      const wait = budget.take(Buffer.byteLength(text), now());
      if (wait === 0 || !dead.signal.aborted) onText(text);
      if (wait > 0) {
        await pause(wait, undefined, { signal: dead.signal }).catch(() => 'no need to wait any more');
      }
    }
  };
  // A stream that breaks has ended; how the process did is told by its exit.
  const ended = Promise.allSettled([follow(output.stdout), follow(output.stderr)]);
  return {
    finish: async () => {
      dead.abort();
      const timer = new AbortController();
      await Promise.race([
        ended,
        pause(flushMs, undefined, { signal: timer.signal }).catch(() => 'in time'),
      ]);
      timer.abort();
    },
  };
}

/** Control characters but tabs and line ends as `\xNN`: a log is read on a terminal, which obeys them. */
function escapeControls(text: string): string {
  return text.replaceAll(
    // deno-lint-ignore no-control-regex
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
