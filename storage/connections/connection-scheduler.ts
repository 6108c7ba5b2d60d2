// Turns of connections at a database server of this machine: many at once cost it and us more than the same work by few.

/** A connection with work at the server. */
interface Holder {
  running: number;
  /** By the monotonic clock, in milliseconds. */
  since: number;
}

/** A connection whose turn has not come, and how much work it has gathered. */
interface Waiting {
  runs: number;
  admitted: Promise<void>;
  admit: () => void;
}

/**
 * A line of connections. As many as there are turns have work under way; the others gather theirs meanwhile and send it
 * together, in one packet, when their turn comes. Each packet wakes a process of the server and, by its answer, this one:
 * with a hundred tenants that costs more than the statements themselves. A turn ends with the work, and is passed on
 * after `longest` milliseconds, twice that at the latest: what is slow holds nobody up for longer, unless a whole line of it
 * is ahead.
 */
export class Turns<Connection> {
  readonly #most: number;
  readonly #longest: number;
  readonly #holders = new Map<Connection, Holder>();
  /** First come, first served. */
  readonly #line = new Map<Connection, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ most, longest }: { most: number; longest: number }) {
    this.#most = most;
    this.#longest = longest;
  }

  /** Asks for a turn: undefined where there is one now. `leave` is to be called after the work in either case. */
  enter(connection: Connection): Promise<void> | undefined {
    const holder = this.#holders.get(connection);
    if (this.#line.size === 0) {
      if (holder !== undefined) {
        holder.running++;
        return undefined;
      }
      if (this.#holders.size < this.#most) {
        this.#holders.set(connection, { running: 1, since: performance.now() });
        return undefined;
      }
    }
    const waiting = this.#line.get(connection);
    if (waiting !== undefined) {
      waiting.runs++;
      return waiting.admitted;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#line.set(connection, { runs: 1, admitted: promise, admit: resolve });
    this.#timer ??= setTimeout(() => this.#release(), this.#longest);
    return promise;
  }

  /** A piece of work is done. */
  leave(connection: Connection): void {
    const holder = this.#holders.get(connection);
    // Without one, it had its turn for too long. What is left of work from then may end a later turn early: others go sooner.
    if (holder === undefined || --holder.running > 0) return;
    this.#holders.delete(connection);
    this.#admit();
  }

  #admit(): void {
    for (const [connection, { runs, admit }] of this.#line) {
      if (this.#holders.size >= this.#most) return;
      this.#line.delete(connection);
      const running = (this.#holders.get(connection)?.running ?? 0) + runs;
      this.#holders.set(connection, { running, since: performance.now() });
      admit();
    }
  }

  /** Takes the turns of those who have had them for too long. */
  #release(): void {
    const before = performance.now() - this.#longest;
    for (const [connection, { since }] of this.#holders) {
      if (since <= before) this.#holders.delete(connection);
    }
    this.#admit();
    this.#timer = this.#line.size === 0 ? undefined : setTimeout(() => this.#release(), this.#longest);
  }
}
