// JSON as a parameter of a statement.
import type { Sql } from '../connections/pool.ts';

const jsonbOid = 3802;

/** A value of plain JSON as a `jsonb`. The driver's own function has a type that does not admit `unknown`. */
export function jsonb(sql: Sql, value: unknown): ReturnType<Sql['typed']> {
  return sql.typed(value, jsonbOid);
}
