// The snapshot of the database that a statement saw, as a text: equal for statements that saw the same.

/**
 * The snapshot of the statement that this column is in, and when its server started, which tells it from a server that
 * was restored and gives the same numbers out again. Two that are equal have the same transactions finished and the
 * same under way, so both statements saw the same rows. In a select of its own, it is asked for once a statement.
 * https://www.postgresql.org/docs/18/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export const snapshotColumn =
  `(select pg_postmaster_start_time()::text || ' ' || pg_current_snapshot()::text)`;
