// What a hook runner writes to its standard output and error: passed on at a bounded rate, harmless to a terminal.
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** Bytes that an app may write at once, and a second for long. */
const rate = 65_536;
/** Milliseconds that are waited for the last words of a process that is dead. */
const lastWords = 500;

/** A token bucket of bytes. Times in milliseconds. */
export class Budget {
  #left = rate;
  #at = 0;

  /** Takes the bytes, which may be more than there are, and answers how long to wait before the next. */
  take(bytes: number, now: number): number {
    this.#left = Math.min(rate, this.#left + (now - this.#at) * rate / 1000) - bytes;
    this.#at = now;
    return Math.max(0, -this.#left * 1000 / rate);
  }
}

/** The output of one process on its way. */
export interface Relay {
  /** For when the process is dead: reads what is left of its output. */
  finish: () => Promise<void>;
}

/** Passes output on, as fast as the budget allows: a process that writes faster is made to wait. */
export function relay(
  output: Record<'stdout' | 'stderr', Readable>,
  { budget, onText, now }: { budget: Budget; onText: (text: string) => void; now: () => number },
): Relay {
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
        pause(lastWords, undefined, { signal: timer.signal }).catch(() => 'in time'),
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
