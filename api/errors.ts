// The errors of the API: every code with its status and meaning, and how other errors become one of them.
import { StoreUnavailable } from '../storage/blobs/blob-store.ts';
import { isDiskFull } from '../storage/sql/error-code.ts';
import { StorageError } from '../storage/errors.ts';
import type { HeaderList } from './http/header-list.ts';

interface CodeRow {
  status: number;
  /** Other statuses that the code comes with. */
  also?: readonly number[];
  /** True when the response can have `errors`. */
  hasErrors?: true;
  meaning: string;
}

/** Every `code` that a response can carry. `mfa_required` is none: it is the body of a 202. */
export const errorCodes = {
  validation: {
    status: 400,
    hasErrors: true,
    meaning: 'The body, a parameter or a query value is missing, unknown or of the wrong type.',
  },
  policy_violation: { status: 400, meaning: 'A value lies outside the limit that a higher level sets.' },
  unknown_column: {
    status: 400,
    hasErrors: true,
    meaning: 'A filter, sort, fields or expand names something that the collection does not have.',
  },
  parse_error: { status: 400, hasErrors: true, meaning: 'The filter expression cannot be parsed.' },
  hook_veto: { status: 400, hasErrors: true, meaning: 'A hook refused the write.' },
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
  conflict: {
    status: 409,
    hasErrors: true,
    meaning: 'The value already exists, or the object is still referenced.',
  },
  payload_too_large: {
    status: 413,
    also: [431],
    meaning: 'The body is too large, or with 431 the headers or the path.',
  },
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

/** Every `code` that one of the `errors` of a response can carry, with its meaning. Hooks may use others. */
export const fieldErrorCodes = {
  required: 'The value is missing, or null.',
  unknown: 'Nothing has this name.',
  not_found: 'The value names something that does not exist, or that the caller may not read.',
  taken: 'The value must be unique, and something else has it.',
  invalid: 'The value is wrong in another way, which `message` says.',
} as const;

/** One wrong member of a body, query or parameter. */
export interface FieldError {
  /** The path of the member: names and positions, with dots between them. */
  field: string;
  reason: string;
  /** A code of the table above, or of a hook. Left out where the reason says it. */
  code?: string;
}

/** The reasons that have a code of their own; that of all others is `invalid`. */
export const reasons = { required: 'is required', unknown: 'unknown field' } as const;

/** An error that the client sees as an `ErrorBody`, with the status of the table. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: HeaderList;
  /** The HTTP status: that of its code, unless the code has several. */
  readonly status: number;
  /** The members that the error is about; empty for an error about something else. */
  readonly errors: readonly FieldError[];

  constructor(
    code: ErrorCode,
    message: string,
    headers: HeaderList = [],
    { status, errors }: { status?: number; errors?: readonly FieldError[] } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
    this.status = status ?? errorCodes[code].status;
    this.errors = errors ?? [];
  }
}

/** The body of an error response. `errors` is left out for an error that is about no member. */
export interface ErrorBody {
  code: string;
  message: string;
  errors?: { path: string; code: string; message: string }[];
}

/** The body of the response to a request that failed. */
export function errorBody({ code, message, errors }: ApiError): ErrorBody {
  if (errors.length === 0) return { code, message };
  return {
    code,
    message,
    errors: errors.map(({ field, reason, code }) => ({
      path: field,
      code: code ?? codeOf(reason),
      message: reason,
    })),
  };
}

function codeOf(reason: string): keyof typeof fieldErrorCodes {
  if (reason === reasons.required) return 'required';
  return reason === reasons.unknown ? 'unknown' : 'invalid';
}

/** Throws an `ApiError`, which ends the request. */
export function fail(
  code: ErrorCode,
  message: string,
  headers?: HeaderList,
): never {
  throw new ApiError(code, message, headers);
}

/** Ends a request whose client has closed the connection. Nobody sees the error; the log says that it was the client's. */
export function failDisconnected(): never {
  fail('validation', 'the client has disconnected');
}

/** An error about members. Its message names them all: `<field>: <reason>; <field>: <reason>`. */
export function fieldsError(code: ErrorCode, errors: readonly FieldError[]): ApiError {
  const parts = errors.map(({ field, reason }) => field === '' ? reason : `${field}: ${reason}`);
  return new ApiError(code, parts.join('; '), [], { errors });
}

/** Throws `400 validation` with all field errors at once. */
export function failValidation(errors: readonly FieldError[]): never {
  throw fieldsError('validation', errors);
}

/** Throws `409 conflict` for a value that must be unique, and that something else has. */
export function failTaken(field: string, reason: string): never {
  throw new ApiError('conflict', reason, [], { errors: [{ field, reason, code: 'taken' }] });
}

/** The `400 unknown_column` of a query parameter, or of a member of a body, that names a field which is not there. */
export function unknownColumn(field: string, reason: string): ApiError {
  return fieldsError('unknown_column', [{ field, reason, code: 'unknown' }]);
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
