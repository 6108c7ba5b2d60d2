// The errors that the client throws: one class for each kind of error response, and one for a response that did not come.

/** What is wrong with one member of a request. */
export interface MemberError {
  /** The name of the field, or where it is in the body, with dots. */
  path: string;
  /** `required`, `unknown`, `not_found`, `taken` or `invalid`. */
  code: string;
  message: string;
}

/** What an error response says. */
export interface ErrorDetails {
  status: number;
  /** The code of the API, such as `validation`. */
  code: string;
  message: string;
  errors: MemberError[];
  /** Names the request in the log of the server. */
  requestId: string | undefined;
  /** Seconds to wait before the next attempt, where the server says so. */
  retryAfter: number | undefined;
}

/** An error response. */
export class BulkheadError extends Error implements ErrorDetails {
  override name = 'BulkheadError';
  declare status: number;
  declare code: string;
  declare errors: MemberError[];
  declare requestId: string | undefined;
  declare retryAfter: number | undefined;

  constructor(details: ErrorDetails) {
    super(details.message);
    Object.assign(this, details);
  }

  /** What is wrong with the member of this path; undefined when nothing is. */
  at(path: string): string | undefined {
    return this.errors.find((error) => error.path === path)?.message;
  }
}

/** 400 or 422: the request is wrong, and `errors` says where. */
export class ValidationError extends BulkheadError {
  override name = 'ValidationError';
}

/** 401: nobody is signed in, the session has ended, or the password or code is wrong (`bad_credentials`). */
export class UnauthorizedError extends BulkheadError {
  override name = 'UnauthorizedError';
}

/** 403: the caller is signed in, but not allowed to do this. */
export class ForbiddenError extends BulkheadError {
  override name = 'ForbiddenError';
}

/** 404: there is no such thing. */
export class NotFoundError extends BulkheadError {
  override name = 'NotFoundError';
}

/** 409: the value exists already, or something still refers to the object. */
export class ConflictError extends BulkheadError {
  override name = 'ConflictError';
}

/** 429 or 503: the request may be sent again, after `retryAfter` seconds. */
export class BusyError extends BulkheadError {
  override name = 'BusyError';
}

/** There was no response: the network, the server or a time limit. `cause` is what went wrong. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

const classes: Record<number, typeof BulkheadError> = {
  400: ValidationError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: BusyError,
  503: BusyError,
};

/** The error of what an error response says, such as a message of the WebSocket; `status` 0 where there is none. */
export function makeError(details: Partial<ErrorDetails>): BulkheadError {
  const { status = 0, code = 'internal', message = `the server responded with ${status}` } = details;
  const { errors = [], requestId, retryAfter } = details;
  return new (classes[status] ?? BulkheadError)({ status, code, message, errors, requestId, retryAfter });
}

/** The error of an error response. Its body need not be JSON: a proxy may have made it. */
export async function readError(response: Response): Promise<BulkheadError> {
  const { status, headers } = response;
  return makeError({
    ...await readBody(response),
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: Number(headers.get('retry-after')) || undefined,
  });
}

/** The code and message of an error response; neither when it is not one of the API. */
export async function readBody(response: Response): Promise<Partial<ErrorDetails>> {
  const body: unknown = await response.json().catch(() => undefined);
  const { code, message, errors } = typeof body === 'object' && body !== null
    ? body as Record<string, unknown>
    : {};
  if (typeof code !== 'string' || typeof message !== 'string') return {};
  return { code, message, ...(Array.isArray(errors) ? { errors } : {}) };
}
