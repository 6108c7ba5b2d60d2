// Limits how many connections have work at a database server of this machine at once: few with more work each cost less.

/** A connection with work at the server. */
interface Holder {
  running: number;
  /** By the monotonic clock, in milliseconds. */
  since: number;
}

/** A connection that waits, and how many statements it has gathered. */
interface Waiter {
  runs: number;
  admitted: Promise<void>;
  admit: () => void;
}

/**
 * A queue of connections. Up to `slots` of them have work under way. The others gather theirs and send it together, in one
 * packet, when a slot is free: each packet wakes a process of the server and, with its result, this process, which costs more
 * than the statements themselves when there are a hundred tenants. A slot is given back when its work is done. It is taken away
 * after `maxTurnMs`, at the latest after twice that, so slow work delays others no longer.
 */
export class ConnectionScheduler<Connection> {
  readonly #slots: number;
  readonly #maxTurnMs: number;
  readonly #holders = new Map<Connection, Holder>();
  /** First come, first served. */
  readonly #queue = new Map<Connection, Waiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ slots, maxTurnMs }: { slots: number; maxTurnMs: number }) {
    this.#slots = slots;
    this.#maxTurnMs = maxTurnMs;
  }

  /** Takes a slot: undefined when it has one at once. Call `leave` after the work in either case. */
  enter(connection: Connection): Promise<void> | undefined {
    const holder = this.#holders.get(connection);
    if (this.#queue.size === 0) {
      if (holder !== undefined) {
        holder.running++;
        return undefined;
      }
      if (this.#holders.size < this.#slots) {
        this.#holders.set(connection, { running: 1, since: performance.now() });
        return undefined;
      }
    }
    const waiting = this.#queue.get(connection);
    if (waiting !== undefined) {
      waiting.runs++;
      return waiting.admitted;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.set(connection, { runs: 1, admitted: promise, admit: resolve });
    this.#timer ??= setTimeout(() => this.#release(), this.#maxTurnMs);
    return promise;
  }

  /** Ends one piece of work. */
  leave(connection: Connection): void {
    const holder = this.#holders.get(connection);
    // Without a holder, its slot was taken away. Work that is left from then may end a later turn early, and others go sooner.
    if (holder === undefined || --holder.running > 0) return;
    this.#holders.delete(connection);
    this.#admitNext();
  }

  #admitNext(): void {
    for (const [connection, { runs, admit }] of this.#queue) {
      if (this.#holders.size >= this.#slots) return;
      this.#queue.delete(connection);
      const running = (this.#holders.get(connection)?.running ?? 0) + runs;
      this.#holders.set(connection, { running, since: performance.now() });
      admit();
    }
  }

  /** Takes the slots of connections that have had them for too long. */
  #release(): void {
    const before = performance.now() - this.#maxTurnMs;
    for (const [connection, { since }] of this.#holders) {
      if (since <= before) this.#holders.delete(connection);
    }
    this.#admitNext();
    this.#timer = this.#queue.size === 0 ? undefined : setTimeout(() => this.#release(), this.#maxTurnMs);
  }
}
