// Which requests the newest invocations of a runner belong to, for the lines that it logs.

const maxEntries = 256;

/** Ids of requests by id of invocation; the oldest are forgotten. */
export class RequestIds {
  /** Side by side, written round and round. */
  readonly #invocations: number[] = [];
  readonly #requests: string[] = [];
  #next = 0;

  /** Remembers the request of a new invocation. */
  add(invocation: number, requestId: string): void {
    this.#invocations[this.#next] = invocation;
    this.#requests[this.#next] = requestId;
    this.#next = (this.#next + 1) % maxEntries;
  }

  /** The request of an invocation; null for one that has none, or was long ago. */
  find(invocation: number): string | null {
    return this.#requests[this.#invocations.indexOf(invocation)] ?? null;
  }
}
