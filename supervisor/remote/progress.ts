// A progress bar on the terminal, for what takes longer than a second.

/** Counts what has been done. */
export interface Progress {
  add(amount: number): void;
  /** Removes the bar. */
  end(): void;
}

const delayMs = 1_000;
const intervalMs = 100;
const width = 30;

/** Shows how many bytes of a total are done; without a total, only how many. Shows nothing where there is no terminal. */
export function showProgress(what: string, total: number | undefined): Progress {
  if (process.stderr.isTTY !== true) return { add: () => {}, end: () => {} };
  const state = { done: 0, shown: false };
  const begin = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - begin < delayMs) return;
    state.shown = true;
    process.stderr.write(`\r\x1b[K${describe(what, state.done, total)}`);
  }, intervalMs).unref();
  return {
    add: (amount) => void (state.done += amount),
    end: () => {
      clearInterval(timer);
      if (state.shown) process.stderr.write('\r\x1b[K');
    },
  };
}

function describe(what: string, done: number, total: number | undefined): string {
  const amount = `${(done / 1e6).toFixed(1)} MB`;
  if (total === undefined || total === 0) return `${what} ${amount}`;
  const part = Math.min(done / total, 1);
  const full = Math.round(part * width);
  return `${what} [${'#'.repeat(full)}${'-'.repeat(width - full)}] ${Math.floor(part * 100)} % of ${
    (total / 1e6).toFixed(1)
  } MB`;
}

/** Passes bytes on and counts them. */
export function countBytes(progress: Progress): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: (chunk, controller) => {
      progress.add(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
}
