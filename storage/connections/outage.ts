// Whether the database server takes connections, and how often it is asked while it does not.

/**
 * Milliseconds between two attempts while the server turns connections away. Each attempt costs it a process, beside the
 * recovery that everybody waits for; without a pause every request would make one.
 */
const pause = 50;

/** https://www.postgresql.org/docs/18/protocol-message-formats.html: ErrorResponse */
const errorResponse = 'E'.charCodeAt(0);
/** The field of its code: `cannot_connect_now`, of a server that starts, recovers or stops. */
const cannotConnectNow = 'C57P03\0';

/** What all connections of a process to one server know of it. */
export class Outage {
  readonly #now: () => number;
  /** When the next attempt may be made; undefined while the server takes connections, as far as is known. */
  #next: number | undefined;

  /** `now` in milliseconds, of a clock that is never set back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether to try to connect: always, but during an outage only one in each pause. */
  mayTry(): boolean {
    if (this.#next === undefined) return true;
    const now = this.#now();
    if (now < this.#next) return false;
    this.#next = now + pause;
    return true;
  }

  /** Hears that the server could not be reached, or turned a connection away. */
  begin(): void {
    this.#next = this.#now() + pause;
  }

  /** Hears the first bytes that the server says on a new connection. */
  noteFirstBytes(answer: Uint8Array | string): void {
    const bytes = Buffer.from(answer);
    if (bytes[0] === errorResponse && bytes.includes(cannotConnectNow)) this.begin();
    else this.#next = undefined;
  }
}
