// Counts the requests that are refused before any work is done for them: one line of the log for each client and second,
// and no connections for clients that go on.
import type { Observe } from '../../logging/events.ts';
import { networkOf } from '../client-network.ts';

const windowMs = 1_000;
/** Clients that are told apart in one second. */
const maxClients = 1_000;
const otherClients = 'others';

interface Count {
  count: number;
  statuses: Set<number>;
}

/** The refusals of one process. */
export class Refusals {
  readonly #observe: Observe;
  readonly #maxRefusals: number;
  readonly #window = new Map<string, Count>();

  /** A client loses its connections for the rest of a second with more than `maxRefusals`. */
  constructor(observe: Observe, maxRefusals: number) {
    this.#observe = observe;
    this.#maxRefusals = maxRefusals;
  }

  /** Counts a refusal. */
  add(ip: string, status: number): void {
    if (this.#window.size === 0) setTimeout(() => this.#endWindow(), windowMs).unref();
    const known = networkOf(ip);
    const client = this.#window.has(known) || this.#window.size < maxClients ? known : otherClients;
    const found = this.#window.get(client) ?? { count: 0, statuses: new Set() };
    found.count++;
    found.statuses.add(status);
    this.#window.set(client, found);
  }

  /** True when the client has had its share of refusals in this second: its connections are to be closed. */
  isFlooding(ip: string): boolean {
    return this.#window.size > 0 && (this.#window.get(networkOf(ip))?.count ?? 0) > this.#maxRefusals;
  }

  #endWindow(): void {
    for (const [client, { count, statuses }] of this.#window) {
      this.#observe({ type: 'requests_refused', client, count, statuses: [...statuses] });
    }
    this.#window.clear();
  }
}
