// The fallback for the patch of the row count: drops the holes that results may begin with.
import type driver from 'postgres';

/**
 * Checks the result of every statement of the process. The driver assigns `resolve` to each statement, and a setter of
 * the prototype wraps it. May be called any number of times.
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

/** Statements that are sent as one text have a plain array of results. */
function whole(result: unknown): unknown {
  if (!Array.isArray(result)) return result;
  if (result.constructor === Array) return result.map(whole);
  const holes = result.findIndex((_, index) => index in result);
  if (holes > 0) result.splice(0, holes);
  return result;
}
