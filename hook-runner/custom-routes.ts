// The event of a custom route's handler, `HttpError`, and the response to what the handler returns or throws.
import { bodyInit } from './bytes.ts';
import type { HookAuth } from './calls.ts';
import { parseExactJson } from './exact-json.ts';
import { describeThrown, makeFault, type SourcePosition, thrownMessage } from './faults.ts';
import { errorCodePattern } from './field-error.ts';
import type { InvocationContext } from './invocations.ts';
import type { InvocationResult, RouteInvocation } from './protocol.ts';
import { failedResult, type InvocationOutcome } from './run-event.ts';
import { originalRequest, originalResponse, stringifyJson, withoutPrototype } from './untampered.ts';

/** Throws `RangeError` for an invalid status and `TypeError` for an invalid code. */
function checkHttpError(status: number, code: string): void {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError('the status of an HttpError lies between 400 and 599');
  }
  if (typeof code !== 'string' || !errorCodePattern.test(code)) {
    throw new TypeError('the code of an HttpError is a letter and up to 63 letters, digits, _, . and -');
  }
}

/** The error that a route's handler throws to choose the response: `{ code, message }` with the status. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  /** @throws RangeError for a status outside 400-599; TypeError for an invalid code */
  constructor(status: number, code: string, message: string) {
    super(message);
    checkHttpError(status, code);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
  }
}

/** The argument of a route's handler. */
export class RouteEvent {
  readonly params: Readonly<Record<string, string>>;
  readonly auth: HookAuth | null;
  readonly requestId: string;
  readonly #frame: RouteInvocation['request'];
  readonly #invocation: InvocationContext;
  #request: Request | null = null;
  #query: Record<string, string> | null = null;

  constructor(frame: RouteInvocation, invocation: InvocationContext) {
    this.params = frame.params;
    this.auth = frame.auth;
    this.requestId = frame.request_id;
    this.#frame = frame.request;
    this.#invocation = invocation;
  }

  /** The standard request. Its signal is aborted when the API no longer waits for the response. */
  get request(): Request {
    this.#request ??= requestOf(this.#frame, this.#invocation.signal);
    return this.#request;
  }

  /** The first value of each name in the query. */
  get query(): Record<string, string> {
    this.#query ??= queryOf(this.#frame);
    return this.#query;
  }
}

function requestOf(frame: RouteInvocation['request'], signal: AbortSignal): Request {
  const { method, headers, body } = frame;
  const url = requestUrl(frame).href;
  const bodiless = method === 'GET' || method === 'HEAD';
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  const request = new (originalRequest())(url, {
    method,
    headers: pairs,
    body: bodiless ? null : bodyInit(body),
    signal,
  });
  // The standard's own `json` would round numbers, which the handler may store.
  return Object.defineProperty(request, 'json', { value: async () => parseExactJson(await request.text()) });
}

function queryOf(frame: RouteInvocation['request']): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of requestUrl(frame).searchParams) {
    if (Object.hasOwn(query, name)) continue;
    Object.defineProperty(query, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return query;
}

/** Parses the URL, which few handlers use. A client's invalid `Host` must not fail the handler, so `localhost` stands in. */
function requestUrl({ url, headers }: RouteInvocation['request']): URL {
  const [, host = ''] = headers.find(([name]) => name === 'host') ?? [];
  return URL.parse(url, `http://${host}`) ?? new URL(url, 'http://localhost');
}

/** The result of a route whose handler threw. */
export function errorResult(
  { id, method, path }: RouteInvocation,
  thrown: unknown,
  registered: SourcePosition,
): InvocationOutcome {
  if (!(thrown instanceof HttpError)) {
    const found = describeThrown(thrown, registered);
    if (found.stack !== null) return failedResult(id, [found]);
    // None of the author's code threw it: the response cannot be sent, and the route's name is the best hint.
    return failedResult(id, [makeFault(`${method} ${path}: ${found.message}`, found)]);
  }
  const { status, code } = thrown;
  try {
    // A subclass of the author's may have assigned other values.
    checkHttpError(status, code);
  } catch (wrong) {
    return failedResult(id, [
      withoutPrototype({ ...describeThrown(thrown, registered), message: thrownMessage(wrong) }),
    ]);
  }
  const message = thrownMessage(thrown);
  const result: InvocationResult = { type: 'result', id, outcome: 'http_error', status, code, message };
  return result;
}

/**
 * Turns a returned value into a response: a `Response` as it is, any other value as JSON, undefined as 204.
 *
 * @throws TypeError for a value that JSON cannot represent; RangeError for an informational status, such as 101
 */
export function toResponse(value: unknown): Response | { status: number; text: string | null } {
  if (value instanceof originalResponse()) {
    if (value.status < 200) throw new RangeError(`a route cannot respond with status ${value.status}`);
    return value;
  }
  if (value === undefined) return { status: 204, text: null };
  const text = stringifyJson(value);
  if (text === undefined) {
    throw new TypeError(`a route cannot respond with a ${typeof value}`);
  }
  return { status: 200, text };
}
