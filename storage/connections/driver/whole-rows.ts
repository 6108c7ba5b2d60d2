// The fallback for the patch of the row count: results are made whole one by one, where the driver may begin them with holes.
import type driver from 'postgres';

/**
 * Checks the result of every statement of the process, and drops the holes that it begins with. The driver gives a statement its
 * `resolve` by an assignment, which is caught here. May be called any number of times.
 */
export function makeRowsWhole(sql: driver.Sql): void {
  const prototype: object = Object.getPrototypeOf(sql.unsafe(''));
  Object.defineProperty(prototype, 'resolve', {
    configurable: true,
    get: () => undefined,
    set(this: object, resolve: (result: unknown) => void) {
      const value = (result: unknown) => resolve(whole(result));
      Object.defineProperty(this, 'resolve', { configurable: true, writable: true, value });
    },
  });
}

/** A text of several statements has a plain array of their results. */
function whole(result: unknown): unknown {
  if (!Array.isArray(result)) return result;
  if (result.constructor === Array) return result.map(whole);
  const holes = result.findIndex((_, index) => index in result);
  if (holes > 0) result.splice(0, holes);
  return result;
}
