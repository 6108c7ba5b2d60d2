// A budget for large frames of invocations: as many at once as a runner's memory can hold, whoever sends them.

/** What is no longer is not counted: 32 of these at once are 2 MiB. In UTF-16 units, as all of it. */
const smallFrameLength = 65_536;
/** A parsed frame takes several times its length in the runner, and the smallest runner has 128 MiB. */
const maxLength = 16_777_216;

/** The frames of one runner's invocations. */
export class FrameBudget {
  readonly #send: (text: string) => void;
  readonly #underWay = new Map<number, number>();
  /** In the order in which they came. */
  readonly #waiting = new Map<number, string>();
  #length = 0;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  /** Sends the frame of an invocation: at once, or when enough of the others have ended. */
  begin(id: number, text: string): void {
    if (text.length <= smallFrameLength) return this.#send(text);
    this.#waiting.set(id, text);
    this.#sendWaiting();
  }

  /** An invocation is over. Returns whether its frame was sent; if not, it never will be. */
  end(id: number): boolean {
    const wasSent = !this.#waiting.delete(id);
    this.#length -= this.#underWay.get(id) ?? 0;
    this.#underWay.delete(id);
    this.#sendWaiting();
    return wasSent;
  }

  #sendWaiting(): void {
    for (const [id, text] of this.#waiting) {
      // One alone is always let through.
      if (this.#underWay.size > 0 && this.#length + text.length > maxLength) return;
      this.#waiting.delete(id);
      this.#underWay.set(id, text.length);
      this.#length += text.length;
      this.#send(text);
    }
  }
}
