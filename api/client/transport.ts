// How the client sends requests: URLs, tokens, JSON, and one more attempt with a new token.
import { ConnectionError, readBody, readError } from './errors.ts';

/** The access token of requests. */
export interface Credentials {
  /** The token to send; undefined when nobody is signed in. */
  token(): Promise<string | undefined>;
  /** The token to use in place of one that the server refused; undefined when the session has ended. */
  renew(refused: string): Promise<string | undefined>;
}

/** What is sent. */
export interface RequestOptions {
  /** Parameters; one that is undefined is left out, and a list is joined by commas. */
  query?: object | undefined;
  /** A form or a `Blob` is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  /** Sends no token: for routes that give one. */
  isAnonymous?: boolean | undefined;
  /** Sends this request, in place of the client's. */
  fetch?: typeof fetch | undefined;
}

/** Sends requests to one server. */
export interface Transport {
  /** The URL of a path, with a query. */
  url(path: string, query?: RequestOptions['query']): string;
  /** The response, whatever its status. Throws `ConnectionError`. */
  fetch(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** The JSON of a response. Throws `BulkheadError` or `ConnectionError`. */
  json<R>(method: string, path: string, options?: RequestOptions): Promise<R>;
}

/** How to reach a server. */
export interface TransportOptions {
  url: string;
  credentials: Credentials;
  fetch: typeof fetch;
  /** Of `RequestInit`; left out where the runtime does not know it. */
  cookies: 'include' | 'omit';
}

/** Makes a transport. */
export function createTransport({ url, credentials, fetch, cookies }: TransportOptions): Transport {
  const origin = url.replace(/\/+$/, '');
  const transport: Transport = {
    url: (path, query = {}) => {
      const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
      return origin + path + (text && `?${text}`);
    },
    fetch: async (method, path, options = {}) => {
      const attempt = (token: string | undefined) =>
        send(
          options.fetch ?? fetch,
          transport.url(path, options.query),
          requestInit({ method, cookies, token, ...options }),
        );
      const token = options.isAnonymous ? undefined : await credentials.token();
      const response = await attempt(token);
      if (token === undefined || !await isRefused(response)) return response;
      const renewed = await credentials.renew(token);
      return renewed === undefined ? response : await attempt(renewed);
    },
    json: async <R>(method: string, path: string, options?: RequestOptions) => {
      const response = await transport.fetch(method, path, options);
      if (!response.ok) throw await readError(response);
      return await response.json() as R;
    },
  };
  return transport;
}

async function send(fetch: typeof globalThis.fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    // The caller itself has ended the request, and knows its own reason.
    if (init.signal?.aborted) throw cause;
    throw new ConnectionError('the server does not respond', { cause });
  }
}

/** True when the token of the request is not valid. A wrong password, or a custom route, has a 401 of its own. */
async function isRefused(response: Response): Promise<boolean> {
  if (response.status !== 401) return false;
  return (await readBody(response.clone())).code === 'unauthorized';
}

function requestInit(
  { method, cookies, token, body, headers, signal }: RequestOptions & {
    method: string;
    cookies: 'include' | 'omit';
    token: string | undefined;
  },
): RequestInit {
  const isJson = body !== undefined && !(body instanceof Blob) && !(body instanceof FormData);
  return {
    method,
    // Some runtimes without cookies throw when they are told what to do with them.
    ...('credentials' in Request.prototype ? { credentials: cookies } : {}),
    headers: {
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
    ...(signal === undefined ? {} : { signal }),
  };
}
