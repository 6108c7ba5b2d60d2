// Which of several connections is to do what comes next.
import type { Client } from './client.ts';

/** The first that is idle, else the one with the least work ahead of what is put on it. */
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
