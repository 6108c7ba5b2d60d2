// Switches off the driver's own retry of stale prepared statements, which loses responses.
import { postgres } from './driver.ts';

/**
 * Keeps the driver from sending a statement again when the table has changed under the prepared one. The driver knows
 * these errors by their `routine`, which nothing else reads. May be called any number of times.
 */
export function disableRetry(): void {
  Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
    configurable: true,
    get: () => undefined,
    set: () => undefined,
  });
}
