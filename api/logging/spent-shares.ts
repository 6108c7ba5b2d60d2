// Logs which share of a workspace is used up, so that an operator sees who spends: once a minute, however often it happens.
import type { Observe } from './events.ts';

/** What was used up, and by whom. */
export interface SpentShare {
  /** The policy that bounds it, or a few words. */
  share: string;
  workspace: string | undefined;
  /** The network of the client, where the share is a client's. */
  client?: string;
}

const restMs = 60_000;
/** Of further ones in the same minute nothing is logged. */
const maxLogged = 10_000;

/** The log lines of one process. */
export class SpentShares {
  readonly #observe: Observe;
  readonly #now: () => number;
  readonly #logged = new Set<string>();
  #since = 0;

  constructor({ observe, now }: { observe: Observe; now: () => Date }) {
    this.#observe = observe;
    this.#now = () => now().getTime();
  }

  /** Notes that something was refused, discarded or has to wait. */
  note({ share, workspace, client }: SpentShare): void {
    const now = this.#now();
    if (Math.abs(now - this.#since) >= restMs) {
      this.#since = now;
      this.#logged.clear();
    }
    const key = JSON.stringify([share, workspace, client]);
    if (this.#logged.has(key) || this.#logged.size >= maxLogged) return;
    this.#logged.add(key);
    this.#observe({ type: 'share_spent', share, workspace, client });
  }
}
