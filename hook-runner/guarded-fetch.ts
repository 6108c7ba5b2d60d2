// `fetch` for hook files: the API sends the request, to hosts that policy `hooks.egress` lets it.
import type { ApiClient } from './asking.ts';
import { bodyInit, encodeBytes } from './bytes.ts';
import type { FetchResponse } from './calls.ts';
import { OriginalPromise, originalRequest, originalResponse } from './untampered.ts';

/** Statuses whose responses have no body (Fetch standard, "null body status"). */
const nullBodyStatuses = new Set([101, 103, 204, 205, 304]);

/** A `fetch` of the standard's signature. Refused requests reject with a TypeError, as unreachable ones do. */
export function createFetch(asking: ApiClient): typeof fetch {
  return async (input, init) => {
    const request = new (originalRequest())(input, init);
    // Made here: when the answer comes, none of the author's code is on the stack.
    const failure = new TypeError('fetch: it was refused');
    const { url, method, signal } = request;
    const bytes = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
    const redirect = request.redirect === 'manual' || request.redirect === 'error'
      ? request.redirect
      : 'follow';
    // Nobody waits for it any more, so it is not to do anything either.
    signal.throwIfAborted();
    const answer = asking.call('fetch', {
      url,
      method,
      headers: [...request.headers],
      body: bytes === null || bytes.length === 0 ? null : encodeBytes(bytes),
      redirect,
    });
    return makeResponse(await unlessAborted(answer, signal, failure));
  };
}

function makeResponse({ url, redirected, status, status_text, headers, body }: FetchResponse): Response {
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  const response = new (originalResponse())(nullBodyStatuses.has(status) ? null : bodyInit(body), {
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
  answer: Promise<FetchResponse>,
  signal: AbortSignal,
  failure: TypeError,
): Promise<FetchResponse> {
  return new OriginalPromise((resolve, reject) => {
    answer.then(resolve, (cause: unknown) => {
      if (cause instanceof Error) failure.message = `fetch: ${cause.message}`;
      failure.cause = cause;
      reject(failure);
    });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
