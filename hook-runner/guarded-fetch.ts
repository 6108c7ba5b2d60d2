// `fetch` for hook files: the API sends the request, to hosts that policy `hooks.egress` lets it.
import type { Asking } from './asking.ts';
import { bodyOf, carried } from './bytes.ts';
import type { EgressResponse } from './calls.ts';
import { PlainPromise, plainRequest, plainResponse } from './untampered.ts';

/** Statuses whose responses have no body (Fetch standard, "null body status"). */
const bodiless = new Set([101, 103, 204, 205, 304]);

/** A `fetch` of the standard's signature. Refused requests reject with a TypeError, as unreachable ones do. */
export function createFetch(asking: Asking): typeof fetch {
  return async (input, init) => {
    const request = new (plainRequest())(input, init);
    // Made here: when the answer comes, none of the author's code is on the stack.
    const failure = new TypeError('fetch: it was refused');
    const { url, method, signal } = request;
    const bytes = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
    const redirect = request.redirect === 'manual' || request.redirect === 'error'
      ? request.redirect
      : 'follow';
    // Nobody waits for it any more, so it is not to do anything either.
    signal.throwIfAborted();
    const answer = asking.ask('fetch', {
      url,
      method,
      headers: [...request.headers],
      body: bytes === null || bytes.length === 0 ? null : carried(bytes),
      redirect,
    });
    return responseOf(await unlessAborted(answer, signal, failure));
  };
}

function responseOf({ url, redirected, status, status_text, headers, body }: EgressResponse): Response {
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  const response = new (plainResponse())(bodiless.has(status) ? null : bodyOf(body), {
    status,
    statusText: status_text,
    headers: pairs,
  });
  // That of a text would be one that the other server never named.
  if (!pairs.some(([name]) => name.toLowerCase() === 'content-type')) response.headers.delete('content-type');
  Object.defineProperty(response, 'url', { value: url });
  Object.defineProperty(response, 'redirected', { value: redirected });
  return response;
}

function unlessAborted(
  answer: Promise<EgressResponse>,
  signal: AbortSignal,
  failure: TypeError,
): Promise<EgressResponse> {
  return new PlainPromise((resolve, reject) => {
    answer.then(resolve, (cause: unknown) => {
      if (cause instanceof Error) failure.message = `fetch: ${cause.message}`;
      failure.cause = cause;
      reject(failure);
    });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
