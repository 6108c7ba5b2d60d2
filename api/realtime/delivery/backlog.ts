// What waits in this process for the readers of all streams, and whose streams are cut off when that is too much.

/** What a piece that waits takes besides its bytes: here, and in the queue of its socket. */
const chunkBytes = 128;

/** Where the bytes of one stream go. */
export interface Outlet {
  readonly workspace: string;
  /** Bytes that were written to it, and how many of them have left. */
  readonly written: number;
  readonly sent: number;
  /** Closes it at once; what waits is lost. */
  cut(): void;
}

/** Memory that waits, and where it ends in what was written to its outlet. */
interface Chunk {
  memory: ArrayBufferLike;
  end: number;
}

/** What waits for the readers of one workspace. */
class WorkspaceShare {
  /** Of all of it; memory that several readers wait for counts once. */
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

  /** Forgets what has left by now, or all of it. */
  settle(outlet: Outlet, sent = outlet.sent): void {
    const pieces = this.#waiting.get(outlet) ?? [];
    const left = pieces.findIndex(({ end }) => end > sent);
    for (const { memory } of pieces.splice(0, left < 0 ? pieces.length : left)) this.#release(memory);
    if (pieces.length === 0) this.#waiting.delete(outlet);
  }

  /** Cuts off streams, those first for which most waits, until no more than half is left. */
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

/** What waits for everybody: who reads slowly, in however many streams, must not fill the memory of all tenants. */
export class Backlog {
  readonly #maxBytes: number;
  /** By workspace; those for which something waits. */
  readonly #shares = new Map<string, WorkspaceShare>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#maxBytes = mostBytes;
  }

  /**
   * Notes bytes that were just written to an outlet and wait there. Where all that waits is too much, streams of the
   * workspace with most of it are cut off, be it this one: nobody costs the others theirs.
   */
  add(outlet: Outlet, bytes: Buffer): void {
    const share = this.#shares.get(outlet.workspace) ?? new WorkspaceShare();
    this.#shares.set(outlet.workspace, share);
    this.#counting(share, () => share.add(outlet, bytes));
    while (this.#bytes > this.#maxBytes) {
      const heaviest = [...this.#shares.values()].reduce((most, next) =>
        next.bytes > most.bytes ? next : most
      );
      this.#counting(heaviest, () => heaviest.halve());
    }
  }

  /** Forgets what has left an outlet, or all that waited there. */
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
