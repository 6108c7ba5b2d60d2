// The bytes that wait for the readers of all streams, with a limit above which streams are cut off.

/** The overhead of a waiting chunk, in bytes: here and in the queue of its socket. */
const chunkBytes = 128;

/** The output of one stream. */
export interface Outlet {
  readonly workspace: string;
  /** Bytes that were written, and how many of them have been sent. */
  readonly written: number;
  readonly sent: number;
  /** Closes it at once and discards what waits. */
  cut(): void;
}

/** A buffer that waits, and the value of `written` at its end. */
interface Chunk {
  memory: ArrayBufferLike;
  end: number;
}

/** The bytes that wait for the readers of one workspace. */
class WorkspaceShare {
  /** The bytes of all buffers; one that several readers wait for counts once. */
  bytes = 0;
  readonly #waiting = new Map<Outlet, Chunk[]>();
  readonly #uses = new Map<ArrayBufferLike, number>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(outlet: Outlet, { buffer: memory }: Buffer): void {
    const pieces = this.#waiting.get(outlet) ?? [];
    this.#waiting.set(outlet, pieces);
    pieces.push({ memory, end: outlet.written });
    const uses = this.#uses.get(memory) ?? 0;
    this.#uses.set(memory, uses + 1);
    this.bytes += chunkBytes + (uses === 0 ? memory.byteLength : 0);
  }

  /** Stops counting what has been sent by now, or all of it. */
  settle(outlet: Outlet, sent = outlet.sent): void {
    const pieces = this.#waiting.get(outlet) ?? [];
    const left = pieces.findIndex(({ end }) => end > sent);
    for (const { memory } of pieces.splice(0, left < 0 ? pieces.length : left)) this.#release(memory);
    if (pieces.length === 0) this.#waiting.delete(outlet);
  }

  /** Cuts off streams, those with the most waiting bytes first, until at most half is left. */
  halve(): void {
    const goal = this.bytes / 2;
    for (const outlet of [...this.#waiting.keys()]) this.settle(outlet);
    const weights = new Map([...this.#waiting].map(([outlet, pieces]) => [outlet, this.#weigh(pieces)]));
    for (const [outlet] of [...weights].sort(([, one], [, other]) => other - one)) {
      if (this.bytes <= goal) return;
      this.settle(outlet, Infinity);
      outlet.cut();
    }
  }

  #weigh(pieces: readonly Chunk[]): number {
    return pieces.reduce(
      (sum, { memory }) => sum + chunkBytes + memory.byteLength / (this.#uses.get(memory) ?? 1),
      0,
    );
  }

  #release(memory: ArrayBufferLike): void {
    const uses = this.#uses.get(memory) ?? 1;
    if (uses > 1) this.#uses.set(memory, uses - 1);
    else this.#uses.delete(memory);
    this.bytes -= chunkBytes + (uses > 1 ? 0 : memory.byteLength);
  }
}

/** Counts the waiting bytes of all streams, so that slow readers cannot fill the memory that all tenants share. */
export class Backlog {
  readonly #maxBytes: number;
  /** By workspace; only those with waiting bytes. */
  readonly #shares = new Map<string, WorkspaceShare>();
  #bytes = 0;

  readonly #onCut: ((workspace: string) => void) | undefined;

  /** `onCut` is called with each workspace whose streams are cut off. */
  constructor(mostBytes: number, onCut?: (workspace: string) => void) {
    this.#maxBytes = mostBytes;
    this.#onCut = onCut;
  }

  /**
   * Counts bytes that were just written to an outlet and wait there. Above the limit, streams of the workspace with the most
   * waiting bytes are cut off, so that no workspace costs others their streams.
   */
  add(outlet: Outlet, bytes: Buffer): void {
    const share = this.#shares.get(outlet.workspace) ?? new WorkspaceShare();
    this.#shares.set(outlet.workspace, share);
    this.#counting(share, () => share.add(outlet, bytes));
    while (this.#bytes > this.#maxBytes) {
      const [workspace, heaviest] = [...this.#shares].reduce((most, next) =>
        next[1].bytes > most[1].bytes ? next : most
      );
      this.#counting(heaviest, () => heaviest.halve());
      this.#onCut?.(workspace);
    }
  }

  /** Stops counting what an outlet has sent, or all that waited there. */
  settle(outlet: Outlet, sent = outlet.sent): void {
    const share = this.#shares.get(outlet.workspace);
    if (share === undefined) return;
    this.#counting(share, () => share.settle(outlet, sent));
    if (share.isEmpty) this.#shares.delete(outlet.workspace);
  }

  #counting(share: WorkspaceShare, change: () => void): void {
    const before = share.bytes;
    change();
    this.#bytes += share.bytes - before;
  }
}
