// The routes that the hooks of an app have registered, with their types.
import { readError } from './errors.ts';
import type { Transport } from './transport.ts';
import type { AppShape } from './types.ts';

/** The names of the custom routes, such as `GET /report/:id`. */
export type RouteName<T extends AppShape> = keyof T['routes'] & string;

type Part<R, K extends string> = K extends keyof R ? unknown extends R[K] ? { [P in K]?: R[K] }
  : undefined extends R[K] ? { [P in K]?: R[K] }
  : Record<never, never> extends R[K] ? { [P in K]?: R[K] }
  : { [P in K]: R[K] }
  : Record<never, never>;

/** What a custom route takes. */
export type RouteInput<R> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'> & { signal?: AbortSignal };

/** Nothing, where a route needs nothing. */
export type RouteArguments<R> = Record<never, never> extends RouteInput<R> ? [input?: RouteInput<R>]
  : [input: RouteInput<R>];

/** The response of a custom route: the value of JSON, otherwise the text. */
export type RouteResponse<R> = R extends { response: infer Body } ? Body : unknown;

/** Calls a custom route. Throws `BulkheadError` and `ConnectionError`. */
export async function callRoute(
  transport: Transport,
  { home, name, input }: {
    home: string;
    name: string;
    input: { params?: unknown; query?: unknown; body?: unknown; signal?: AbortSignal } | undefined;
  },
): Promise<unknown> {
  const { params, query, body, signal } = input ?? {};
  const [method = '', path = ''] = name.split(' ');
  const values = new Map<string, unknown>(Object.entries(params ?? {}));
  const filled = path.replaceAll(
    /:(\w+)|\{(\w+)\}/g,
    (_, one, other) => encodeURIComponent(String(values.get(one ?? other))),
  )
    .replace(/\*$/, () => String(values.get('*') ?? ''));
  const response = await transport.fetch(method, `${home}/custom${filled}`, {
    query: query ?? {},
    body,
    signal,
  });
  if (!response.ok) throw await readError(response);
  return /\bjson\b/.test(response.headers.get('content-type') ?? '')
    ? await response.json()
    : await response.text();
}
