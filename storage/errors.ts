// The failures of the storage, and the only translation of driver errors.
import type driver from 'postgres';
import { postgres } from './connections/driver/driver.ts';
import { errorCode } from './sql/error-code.ts';

/** The closed set of storage failures; `api/errors.ts` gives each its HTTP response. */
export type StorageFailure =
  | 'unavailable' // no connection, server starting or stopping, or no permit in time
  | 'timeout' // statement_timeout or lock_timeout
  | 'conflict' // unique violation
  | 'restricted' // a row is still referenced
  | 'missing_reference' // a reference points nowhere
  | 'undefined' // table, column or schema is gone: a stale definition
  | 'serialization' // deadlock or serialization failure: may be tried again
  | 'invalid'; // the server refused a value

/** A failure that a caller can act on. `constraint` names the violated constraint, if there is one. */
export class StorageError extends Error {
  readonly failure: StorageFailure;
  readonly constraint: string | undefined;

  constructor(
    failure: StorageFailure,
    message: string,
    options: { cause?: unknown; constraint?: string } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'StorageError';
    this.failure = failure;
    this.constraint = options.constraint;
  }
}

/**
 * Nothing came in time, neither a permit for a connection nor a byte of the server. Another attempt would wait as long.
 */
export class NoResponseInTime extends StorageError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/** No connection was free in time. Nothing was sent to the server. */
export class NoPermit extends NoResponseInTime {
  constructor() {
    super('all database connections are busy');
  }
}

/** SQLSTATE to failure: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const bySqlState: Readonly<Record<string, StorageFailure>> = {
  '23505': 'conflict',
  '23503': 'missing_reference',
  '23001': 'restricted',
  '22P02': 'invalid',
  '22P05': 'invalid',
  '22021': 'invalid',
  '22001': 'invalid',
  '22003': 'invalid',
  '22007': 'invalid',
  '22008': 'invalid',
  '23502': 'invalid',
  '23514': 'invalid',
  // Too long for an index or a page, or a table that has had 1,600 columns.
  '54000': 'invalid',
  '54011': 'invalid',
  '42P01': 'undefined',
  '42703': 'undefined',
  // A column has another type than the statement was made for, or the prepared statement returned another type.
  '42804': 'undefined',
  '42846': 'undefined',
  // No operator for these types: a column was dropped and added again with another kind.
  '42883': 'undefined',
  '0A000': 'undefined',
  '3F000': 'undefined',
  // A role, such as that of an app that was just removed.
  '42704': 'undefined',
  '40001': 'serialization',
  '40P01': 'serialization',
  '55P03': 'timeout',
  '57014': 'timeout',
  '25P04': 'timeout',
  // No memory, as for locks, and no space for temporary files.
  '53200': 'unavailable',
  '53400': 'unavailable',
  '53300': 'unavailable',
  '57P01': 'unavailable',
  '57P02': 'unavailable',
  '57P03': 'unavailable',
  '55000': 'unavailable', // a database that is about to be dropped accepts no connections
  '3D000': 'unavailable',
  '28000': 'unavailable',
  '28P01': 'unavailable',
};

const denied = '42501';

/** Two transactions changed one row of a catalog, such as the rights of a database. PostgreSQL reports an internal error. */
const catalogClash = /^tuple concurrently (?:updated|deleted)$/;

const connectionFailures = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EACCES',
]);

/** True when a prepared statement has outlived its table's definition ("cached plan must not change result type"). */
export function isStaleStatement(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '0A000';
}

/** True when the role of a statement may not do this: it has lost its rights, or never had them. */
export function isDenied(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === denied && !isFatal(error);
}

/** True when it ended the connection, or its beginning. */
function isFatal({ severity }: driver.PostgresError): boolean {
  return severity === 'FATAL';
}

/** The failures of a deleted tenant: its connections are ended, it cannot connect, its row and its tables are gone. */
const ofDropped: ReadonlySet<StorageFailure> = new Set(['unavailable', 'missing_reference', 'undefined']);

/** True when a failure may come from the deletion of the statement's tenant. */
export function mayBeDropped(error: unknown): boolean {
  if (!(error instanceof StorageError) || error instanceof NoResponseInTime) return false;
  return ofDropped.has(error.failure) && errorCode(error.cause) !== 'CONNECT_TIMEOUT';
}

/** The limits of a workspace that a statement can exceed. */
export type ExceededLimit =
  | 'database connections'
  | 'database.temp_file_mb'
  | 'database.statement_timeout_ms';

/** The limit that a failure says is exceeded, if it does. */
export function exceededLimit(error: unknown): ExceededLimit | undefined {
  if (error instanceof NoPermit) return 'database connections';
  const { cause } = error instanceof StorageError ? error : {};
  if (!(cause instanceof postgres.PostgresError)) return undefined;
  if (cause.code === '53400' && cause.message.includes('temp_file_limit')) return 'database.temp_file_mb';
  // The code of every cancellation, also of that for a client that has gone.
  const isLate = cause.code === '57014' && cause.message.includes('statement timeout');
  return isLate ? 'database.statement_timeout_ms' : undefined;
}

/** Values that an expression of a query cannot be computed for, by SQLSTATE. Its message may show them to those who may not read them. */
const uncomputed: Readonly<Record<string, string>> = {
  '21000': 'a subquery has more than one row',
  '22003': 'a number is out of range',
  '22012': 'a number is divided by zero',
  '22P02': 'a text cannot be read as a value of another type',
};

/** The reason why an expression of a query cannot be computed for the values that there are, if that is what failed. */
export function uncomputedReason(error: unknown): string | undefined {
  const cause = error instanceof StorageError ? error.cause : error;
  if (!(cause instanceof postgres.PostgresError)) return undefined;
  const { code } = cause;
  return uncomputed[code] ?? (code.startsWith('22') ? 'a function does not take a value' : undefined);
}

/** These end a connection, possibly right after the commit of what was sent on it. */
const endings = new Set(['57P01', '57P02']);

/**
 * True when the work may have been done all the same, or may still be done: the server has not said that it was not.
 */
export function mayBeDone(error: unknown): boolean {
  if (!(error instanceof StorageError) || error.failure !== 'unavailable') return false;
  if (error instanceof NoPermit) return false;
  return !(error.cause instanceof postgres.PostgresError) || endings.has(error.cause.code);
}

/** Turns a driver error into a `StorageError`. Anything unknown is returned as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof postgres.PostgresError) {
    const failure = failureOf(error);
    if (failure === undefined) return error;
    const constraint = error.constraint_name;
    return new StorageError(failure, error.message, { cause: error, ...(constraint ? { constraint } : {}) });
  }
  return connectionFailures.has(errorCode(error))
    ? new StorageError('unavailable', 'the database does not respond', { cause: error })
    : error;
}

function failureOf(error: driver.PostgresError): StorageFailure | undefined {
  const { code, message } = error;
  // The role may not connect: it loses its rights when a tenant is deleted.
  if (code === denied && isFatal(error)) return 'unavailable';
  // 23503 is the code both of a reference to nothing and, without RESTRICT, of a row that is still referenced.
  if (message.startsWith('update or delete on table')) return 'restricted';
  return code === 'XX000' && catalogClash.test(message) ? 'serialization' : bySqlState[code];
}
