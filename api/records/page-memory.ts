// The memory that the records of one response take, of the share that all responses of a workspace have.
import { type RowMemory, RowsMustWait, type RowWeight } from '../../storage/app/records/row-budget.ts';
import type { Deps } from '../deps.ts';
import { failDisconnected } from '../errors.ts';

/** The memory of all pages, and what a page makes way for. */
export interface PageMemoryDeps extends Pick<Deps, 'pageBytes'> {
  traffic: Pick<Deps['traffic'], 'lull'>;
}

/** The request that the records are for. */
export interface PageRequester {
  /** True when the client has closed the connection. */
  isDisconnected(): boolean;
  /** Calls a listener when the response has been sent, or the client has gone. */
  onEnd(listener: () => void): void;
}

/** Shorter pages, which are most, take nothing of the share. In bytes, as all figures here: roughly those of the values. */
const uncountedBytes = 262_144;
/** Longer pages come in pieces of about this length. */
const pieceBytes = 1_048_576;
/** How much of an earlier weight remains with each page that has lighter rows. */
const decay = 0.5;
/** How long a page rests in all, in milliseconds: the time limit of its statement goes on meanwhile. */
const maxRestMs = 1_000;

/** The memory of one response. It is given back when that has been sent. */
export class PageMemory implements RowMemory {
  pieceRows: number | undefined;
  readonly #deps: PageMemoryDeps;
  readonly #workspace: string;
  readonly #requester: PageRequester;
  #held = 0;
  #kept = 0;
  #rows = 0;
  #restUntil: number | undefined;
  #isWatched = false;

  constructor(deps: PageMemoryDeps, workspace: string, requester: PageRequester) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#requester = requester;
  }

  /**
   * Reads at most so many records of about this weight each. Waits first for the memory that they will take. When they take more
   * and there is none, gives them up, waits for the whole share, and reads them again. Throws `503 unavailable`.
   */
  async read<Result>(weight: RowWeight, maxRows: number, read: () => Promise<Result>): Promise<Result> {
    const expected = weight.bytes * maxRows;
    if (expected > uncountedBytes) await this.#borrow(expected);
    for (;;) {
      this.pieceRows = weight.bytes * maxRows > pieceBytes
        ? Math.max(1, Math.floor(pieceBytes / weight.bytes))
        : undefined;
      this.#kept = this.#rows = 0;
      try {
        const result = await read();
        this.#giveBack(Math.max(0, this.#held - this.#kept));
        return result;
      } catch (error) {
        if (!(error instanceof RowsMustWait)) throw error;
      }
      this.noteRows(weight);
      await this.#borrow(Infinity);
    }
  }

  /** Remembers how long the rows of a collection are: those that have come so far. */
  noteRows(weight: RowWeight): void {
    if (this.#rows > 0) weight.bytes = Math.max(this.#kept / this.#rows, weight.bytes * decay);
  }

  keep(bytes: number): boolean {
    this.#kept += bytes;
    this.#rows++;
    const { pageBytes } = this.#deps;
    const missing = this.#kept - Math.max(this.#held, uncountedBytes);
    if (missing <= 0 || this.#held === pageBytes.share) return true;
    const more = this.#kept - this.#held;
    if (this.#requester.isDisconnected() || !pageBytes.tryAcquire(this.#workspace, more)) return false;
    this.#hold(more);
    return true;
  }

  rest(): Promise<void> | undefined {
    this.#requirePresent();
    const now = performance.now();
    this.#restUntil ??= now + maxRestMs;
    return now < this.#restUntil ? this.#deps.traffic.lull() : undefined;
  }

  async #borrow(bytes: number): Promise<void> {
    const { pageBytes } = this.#deps;
    this.#giveBack(this.#held);
    const wanted = Math.min(bytes, pageBytes.share);
    await pageBytes.acquire(this.#workspace, wanted);
    this.#hold(wanted);
    this.#requirePresent();
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#requester.onEnd(() => this.#giveBack(this.#held));
  }

  #giveBack(bytes: number): void {
    this.#held -= bytes;
    if (bytes > 0) this.#deps.pageBytes.release(this.#workspace, bytes);
  }

  #requirePresent(): void {
    if (!this.#requester.isDisconnected()) return;
    this.#giveBack(this.#held);
    failDisconnected();
  }
}

/** Runs work for a workspace whose records nobody is sent: they take memory for as long as it runs. Throws what it throws. */
export async function withPageMemory<Result>(
  deps: PageMemoryDeps,
  workspace: string,
  work: (memory: PageMemory) => Promise<Result>,
): Promise<Result> {
  let end: () => void = () => undefined;
  const onEnd = (listener: () => void) => void (end = listener);
  try {
    return await work(new PageMemory(deps, workspace, { isDisconnected: () => false, onEnd }));
  } finally {
    end();
  }
}
