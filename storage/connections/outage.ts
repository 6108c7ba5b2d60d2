// The state of a server that refuses connections, and the pace of attempts while it does.

/**
 * Milliseconds between two attempts while the server refuses connections. Each attempt costs it a process, beside the
 * recovery that everybody waits for. Without a pause every request would make one.
 */
const pause = 50;

/** https://www.postgresql.org/docs/18/protocol-message-formats.html: ErrorResponse */
const errorResponse = 'E'.charCodeAt(0);
/** The field of the code `cannot_connect_now`, of a server that starts, recovers or stops. */
const cannotConnectNow = 'C57P03\0';

/** The state that all connections of a process to one server share. */
export class Outage {
  readonly #now: () => number;
  /** The time of the next attempt; undefined while the server accepts connections, as far as is known. */
  #next: number | undefined;

  /** `now` is in milliseconds, by a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True when a connection may be tried: always, but during an outage only once in each pause. */
  mayTry(): boolean {
    if (this.#next === undefined) return true;
    const now = this.#now();
    if (now < this.#next) return false;
    this.#next = now + pause;
    return true;
  }

  /** Begins the outage: the server could not be reached, or refused a connection. */
  begin(): void {
    this.#next = this.#now() + pause;
  }

  /** Reads the first bytes that the server sends on a new connection. */
  noteFirstBytes(first: Uint8Array | string): void {
    const bytes = Buffer.from(first);
    if (bytes[0] === errorResponse && bytes.includes(cannotConnectNow)) this.begin();
    else this.#next = undefined;
  }
}
