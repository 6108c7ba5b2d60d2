// The snapshot of the database that a statement sees, as a text.

/**
 * An SQL expression: the snapshot of its statement, and the start time of the server, which tells it from a server that
 * was restored and counts transactions again. Equal texts mean that the same transactions were finished and the same in
 * progress, so both statements saw the same rows. In a subselect it is evaluated once for each statement.
 * https://www.postgresql.org/docs/18/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export const snapshotColumn =
  `(select pg_postmaster_start_time()::text || ' ' || pg_current_snapshot()::text)`;
