// The errors of the API: every code with its status and meaning, and how other errors become one of them.
import { StoreUnavailable } from '../storage/blobs/blob-store.ts';
import { isDiskFull } from '../storage/sql/error-code.ts';
import { StorageError } from '../storage/errors.ts';
import type { HeaderList } from './http/header-list.ts';

interface CodeRow {
  status: number;
  /** Other statuses that the code comes with. */
  also?: readonly number[];
  meaning: string;
}

/** Every `code` that a response can carry. `mfa_required` is none: it is the body of a 202. */
export const errorCodes = {
  validation: {
    status: 400,
    meaning: 'The body, a parameter or a query value is missing, unknown or of the wrong type.',
  },
  policy_violation: { status: 400, meaning: 'A value lies outside the limit that a higher level sets.' },
  unknown_column: {
    status: 400,
    meaning: 'A filter, sort, fields or expand names something that the collection does not have.',
  },
  parse_error: { status: 400, meaning: 'The filter expression cannot be parsed.' },
  hook_veto: { status: 400, meaning: 'A hook refused the write.' },
  unauthorized: { status: 401, meaning: 'The token is missing, invalid, expired or revoked.' },
  bad_credentials: { status: 401, meaning: 'The password, the email or the code is wrong.' },
  forbidden: { status: 403, meaning: 'The caller is authenticated, but not allowed to do this.' },
  quota_exceeded: {
    status: 403,
    also: [413, 429],
    meaning:
      'A quota is used up; the message names it. The status is 413 for `quota.storage_mb`, 429 for `quota.requests_per_sec`, otherwise 403.',
  },
  not_found: { status: 404, meaning: 'The object or the route does not exist.' },
  workspace_not_found: { status: 404, meaning: 'The workspace in the URL does not exist.' },
  app_not_found: { status: 404, meaning: 'The app in the URL does not exist.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this method. `Allow` lists its methods.',
  },
  conflict: { status: 409, meaning: 'The value already exists, or the object is still referenced.' },
  payload_too_large: { status: 413, meaning: 'The body is too large.' },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The `Range` lies outside the file. `Content-Range` gives its length.',
  },
  deserialization: {
    status: 422,
    meaning: 'The body is empty, of the wrong Content-Type, encoded, or not a JSON object.',
  },
  too_many_requests: {
    status: 429,
    meaning: 'The rate limit is exceeded, or the account is locked. Try again after `Retry-After` seconds.',
  },
  internal: { status: 500, meaning: 'An unexpected failure. Look for the request id in the log.' },
  hook_error: { status: 500, meaning: 'A hook failed or ran out of time.' },
  uninitialized: { status: 503, meaning: 'The server has not been set up yet.' },
  unavailable: {
    status: 503,
    meaning: 'A part of the server does not respond. Try again after `Retry-After` seconds.',
  },
  hook_busy: {
    status: 503,
    meaning: 'Too many hook calls are waiting. Try again after `Retry-After` seconds.',
  },
  hook_unavailable: {
    status: 503,
    meaning: 'The app’s hook process keeps crashing and stays stopped for some time.',
  },
} as const satisfies Record<string, CodeRow>;

/** A code of the table above. */
export type ErrorCode = keyof typeof errorCodes;

/** An error that the client sees as `{ code, message }`, with the status of the table. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: HeaderList;
  /** The HTTP status: that of its code, unless the code has several. */
  readonly status: number;

  constructor(
    code: ErrorCode,
    message: string,
    headers: HeaderList = [],
    status: number = errorCodes[code].status,
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
    this.status = status;
  }
}

/** Throws an `ApiError`, which ends the request. */
export function fail(
  code: ErrorCode,
  message: string,
  headers?: HeaderList,
): never {
  throw new ApiError(code, message, headers);
}

/** One wrong member of a body, query or parameter. */
export interface FieldError {
  field: string;
  reason: string;
}

/** Throws `400 validation` with all field errors at once: `<field>: <reason>; <field>: <reason>`. */
export function failValidation(errors: readonly FieldError[]): never {
  fail(
    'validation',
    errors.map(({ field, reason }) => field === '' ? reason : `${field}: ${reason}`).join('; '),
  );
}

/** For `catch`: returns null for `404 not_found`, and throws any other error again. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null;
  throw error;
}

const retrySoon = [['Retry-After', '1']] as const;
const retryLater = [['Retry-After', '60']] as const;

/** True for errors that only an operator can explain or repair; `code` is the one that the client sees. */
export function mustBeLogged(error: unknown, code: ErrorCode): boolean {
  return code === 'internal' || error instanceof StoreUnavailable || isDiskFull(error);
}

/** Translates any error to the one that the client sees; `internal` hides everything. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) {
    return new ApiError('unavailable', 'the store of files does not respond; try again', retrySoon);
  }
  if (isDiskFull(error)) return new ApiError('unavailable', 'the server has no room left', retryLater);
  if (!(error instanceof StorageError)) return new ApiError('internal', 'something went wrong on our side');
  switch (error.failure) {
    case 'unavailable':
      return new ApiError('unavailable', 'the database does not respond; try again', retrySoon);
    case 'timeout':
      return new ApiError('unavailable', 'the database took too long; try again', retrySoon);
    case 'serialization':
    case 'undefined':
      return new ApiError('unavailable', 'the data changed while it was used; try again', retrySoon);
    case 'conflict':
      return new ApiError('conflict', 'a row with this value already exists');
    case 'restricted':
      return new ApiError('conflict', 'the row is still referenced');
    case 'missing_reference':
      return new ApiError('validation', 'a referenced row does not exist');
    case 'invalid':
      return new ApiError('validation', 'a value cannot be stored');
  }
}
