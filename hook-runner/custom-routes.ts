// What the handler of a custom route is given, and what comes of what it returns or throws.
import { bodyInit } from './bytes.ts';
import type { HookAuth } from './calls.ts';
import { describeThrown, makeFault, type SourcePosition, thrownMessage } from './faults.ts';
import type { InvocationContext } from './invocations.ts';
import type { InvocationResult, RouteInvocation } from './protocol.ts';
import { failedResult, type InvocationOutcome } from './record-events.ts';
import { originalRequest, originalResponse, stringifyJson, withoutPrototype } from './untampered.ts';

const codePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Throws RangeError or TypeError for what an `HttpError` cannot have. */
function checkHttpError(status: number, code: string): void {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError('the status of an HttpError lies between 400 and 599');
  }
  if (typeof code !== 'string' || !codePattern.test(code)) {
    throw new TypeError('the code of an HttpError is a letter and up to 63 letters, digits, _, . and -');
  }
}

/** Thrown by a route's handler, it is the answer: `{ code, message }` with the status. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  /** @throws RangeError or TypeError for a status outside 400-599 or a code that is no name */
  constructor(status: number, code: string, message: string) {
    super(message);
    checkHttpError(status, code);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
  }
}

/** What a route's handler is given. */
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

  /** The standard request. Its signal is aborted when nobody waits for the answer any more. */
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
  return new (originalRequest())(url, {
    method,
    headers: pairs,
    body: bodiless ? null : bodyInit(body),
    signal,
  });
}

function queryOf(frame: RouteInvocation['request']): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of requestUrl(frame).searchParams) {
    if (Object.hasOwn(query, name)) continue;
    Object.defineProperty(query, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return query;
}

/** Read when a handler asks for it: few do. A host that none can have is not the author's fault. */
function requestUrl({ url, headers }: RouteInvocation['request']): URL {
  const [, host = ''] = headers.find(([name]) => name === 'host') ?? [];
  return URL.parse(url, `http://${host}`) ?? new URL(url, 'http://localhost');
}

/** What a throw comes to. */
export function errorResult(
  { id, method, path }: RouteInvocation,
  thrown: unknown,
  registered: SourcePosition,
): InvocationOutcome {
  if (!(thrown instanceof HttpError)) {
    const found = describeThrown(thrown, registered);
    if (found.stack !== null) return failedResult(id, [found]);
    // No code of the author's threw it: of an answer that cannot be sent, its route says most.
    return failedResult(id, [makeFault(`${method} ${path}: ${found.message}`, found)]);
  }
  const { status, code } = thrown;
  try {
    // A class of the author's may have given it others.
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
 * The answer for a value that is no `Response`: its JSON, or 204 for undefined.
 *
 * @throws TypeError for what JSON cannot say; RangeError for a `Response` that is none to a request, such as 101
 */
export function toResponse(value: unknown): Response | { status: number; text: string | null } {
  if (value instanceof originalResponse()) {
    if (value.status < 200) throw new RangeError(`a route cannot answer with status ${value.status}`);
    return value;
  }
  if (value === undefined) return { status: 204, text: null };
  const text = stringifyJson(value);
  if (text === undefined) {
    throw new TypeError(`a route cannot answer a ${typeof value}`);
  }
  return { status: 200, text };
}
