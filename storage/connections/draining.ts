// Draining connections of a pool: they finish what is in flight, are closed, and free their permits.
import type { Client } from './client.ts';
import type { Permits } from './permits.ts';

/** The time for what is in flight once a connection is to be closed. */
const closeSeconds = 5;

/** Clients that take no new work, and are closed as soon as they have none. */
export class DrainingConnections {
  readonly #permits: Permits;
  readonly #clients = new Set<Client>();
  /** Those of them that are being closed. */
  readonly #closing = new Set<Client>();
  #whenEmpty: (() => void) | undefined;

  constructor(permits: Permits) {
    this.#permits = permits;
  }

  has(client: Client): boolean {
    return this.#clients.has(client);
  }

  async add(client: Client): Promise<void> {
    this.#clients.add(client);
    if (client.inFlight === 0) await this.close(client);
  }

  /** Closes one of them that has nothing in flight, or nothing that may take longer than `seconds`. */
  async close(client: Client, seconds = closeSeconds): Promise<void> {
    if (this.#clients.has(client) && !this.#closing.has(client)) {
      this.#closing.add(client);
      this.#permits.promise();
    }
    await client.close(seconds);
    this.drop(client);
  }

  /** Removes a connection that is closed, and frees its permit, once. */
  drop(client: Client): void {
    if (!this.#clients.delete(client)) return;
    this.#permits.give({ promised: this.#closing.delete(client) });
    if (this.#clients.size === 0) this.#whenEmpty?.();
  }

  /** Waits until all are closed, and closes those that take too long. */
  async end(): Promise<void> {
    if (this.#clients.size === 0) return;
    const timer = setTimeout(() => {
      for (const client of this.#clients) void this.close(client, 0);
    }, closeSeconds * 1_000);
    await new Promise<void>((resolve) => this.#whenEmpty = resolve);
    clearTimeout(timer);
  }
}
