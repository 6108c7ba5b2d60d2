// Switches off a habit of the driver that loses answers.
import { postgres } from './driver.ts';

/**
 * Keeps the driver from sending a statement once more on its own when a table has changed under the prepared one. While
 * it waits for the statement's description it goes on sending others behind it, and the answers then reach the wrong
 * statement or none (postgres 3.4.9, shown by test/storage/connections/stale-statement.test.ts). It knows these errors by
 * their `routine`, which nothing else reads. May be called any number of times.
 */
export function disarmDriverRetry(): void {
  Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
    configurable: true,
    get: () => undefined,
    set: () => undefined,
  });
}
