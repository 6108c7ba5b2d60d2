// The choice of a connection for the next piece of work.
import type { Client } from './client.ts';

/** The first idle connection, else the one with the least work ahead of the next. */
export function leastBusy(clients: readonly Client[]): Client | undefined {
  let best: Client | undefined;
  for (const client of clients) {
    if (best === undefined || weight(client) < weight(best)) best = client;
    if (best.inFlight === 0) break;
  }
  return best;
}

function weight(client: Client): number {
  return client.inFlight + client.transactions * 1_000;
}
