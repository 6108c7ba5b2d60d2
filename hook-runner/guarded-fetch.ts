// `fetch` for hook files. The API sends the request, to hosts that policy `hooks.egress` allows.
import type { ApiClient } from './asking.ts';
import { bodyInit, encodeBytes } from './bytes.ts';
import type { FetchResponse } from './calls.ts';
import { OriginalPromise, originalRequest, originalResponse } from './untampered.ts';

/** Statuses whose responses have no body (Fetch standard, "null body status"). */
const nullBodyStatuses = new Set([101, 103, 204, 205, 304]);

/** Creates a `fetch` with the standard's signature. It rejects with a `TypeError` for refused requests, as for unreachable hosts. */
export function createFetch(asking: ApiClient): typeof fetch {
  return async (input, init) => {
    const request = new (originalRequest())(input, init);
    // Created here, as none of the author's code is on the stack when the response arrives.
    const failure = new TypeError('fetch: it was refused');
    const { url, method, signal } = request;
    const bytes = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
    const redirect = request.redirect === 'manual' || request.redirect === 'error'
      ? request.redirect
      : 'follow';
    // The request was aborted while its body was read, and must not be sent.
    signal.throwIfAborted();
    const response = asking.call('fetch', {
      url,
      method,
      headers: [...request.headers],
      body: bytes === null || bytes.length === 0 ? null : encodeBytes(bytes),
      redirect,
    });
    return makeResponse(await unlessAborted(response, signal, failure));
  };
}

function makeResponse({ url, redirected, status, status_text, headers, body }: FetchResponse): Response {
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  const response = new (originalResponse())(nullBodyStatuses.has(status) ? null : bodyInit(body), {
    status,
    statusText: status_text,
    headers: pairs,
  });
  // A text body would add a content type that the other server did not send.
  if (!pairs.some(([name]) => name.toLowerCase() === 'content-type')) response.headers.delete('content-type');
  Object.defineProperty(response, 'url', { value: url });
  Object.defineProperty(response, 'redirected', { value: redirected });
  return response;
}

function unlessAborted(
  response: Promise<FetchResponse>,
  signal: AbortSignal,
  failure: TypeError,
): Promise<FetchResponse> {
  return new OriginalPromise((resolve, reject) => {
    response.then(resolve, (cause: unknown) => {
      if (cause instanceof Error) failure.message = `fetch: ${cause.message}`;
      failure.cause = cause;
      reject(failure);
    });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
