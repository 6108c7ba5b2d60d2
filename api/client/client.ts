// The client of an app: what `bulkhead/client` exports.
import { type Auth, createAuth } from './auth/auth.ts';
import { type Session, SessionKeeper } from './auth/session.ts';
import { memoryStorage, sharedStorage, type TextStorage } from './auth/storage.ts';
import type { BatchMaker, BatchResponses, BatchWrite } from './batch.ts';
import type { RouteArguments, RouteName, RouteResponse } from './custom-routes.ts';
import { createFiles, type Files } from './files.ts';
import { Connection } from './realtime/connection.ts';
import { createRecords, type Records } from './records.ts';
import { createTransport, type Credentials, type RequestOptions } from './transport.ts';
import type { AppShape, CollectionName, LooseTypes } from './types.ts';

/** Which app, and how to reach it. */
export interface ClientOptions {
  workspace: string;
  app: string;
  /** An access token or API key of a program, in place of a session. */
  token?: string | undefined;
  /**
   * Where the session is kept: `localStorage` in a page, otherwise the memory. With `'cookies'`, the refresh token is in a
   * cookie that no script can read; the page must be of the server's origin or of one of the workspace's.
   */
  storage?: TextStorage | 'cookies' | undefined;
  /** Sends the requests; default: the `fetch` of the runtime. */
  fetch?: typeof fetch | undefined;
}

/** A client of one app. */
export interface Client<T extends AppShape> {
  /** Signing in and out. */
  readonly auth: Auth;
  /** The records of a collection. */
  collection<C extends CollectionName<T>>(name: C): Records<T, C>;
  /** Sends up to 100 writes, of which all happen or none. */
  batch<const W extends readonly BatchWrite<unknown>[]>(make: BatchMaker<T, W>): Promise<BatchResponses<W>>;
  /** Calls a route that the hooks have registered, by its name: `client.route('GET /report/:id', { params: { id } })`. */
  route<N extends RouteName<T>>(
    name: N,
    ...input: RouteArguments<T['routes'][N]>
  ): Promise<RouteResponse<T['routes'][N]>>;
  readonly files: Files;
  /** Sends a request to any path of the server, with the token. Throws `ConnectionError`; see `readError` for the rest. */
  fetch(method: string, path: string, options?: RequestOptions): Promise<Response>;
}

/** A refresh that takes longer has failed; the next request begins another. */
const refreshTimeoutMs = 15_000;

/** Makes a client. `url` is where the server is; in a page of an app's own origin it may be empty. */
export function createClient<T extends AppShape = LooseTypes>(
  url: string,
  options: ClientOptions,
): Client<T> {
  const { workspace, app, token } = options;
  const realm = `/api/workspaces/${encodeURIComponent(workspace)}`;
  const home = `${realm}/apps/${encodeURIComponent(app)}`;
  const keeper = makeKeeper(url, options, (session) => refreshed(session));
  const fixed = { token: () => Promise.resolve(token), renew: () => Promise.resolve(undefined) };
  const credentials: Credentials = token === undefined ? keeper : fixed;
  const usesCookies = options.storage === 'cookies';
  const transport = createTransport({
    url,
    credentials,
    fetch: options.fetch ?? ((...sent) => globalThis.fetch(...sent)),
    cookies: usesCookies ? 'include' : 'omit',
  });
  const refreshed = async (session: Session | undefined): Promise<Session> => {
    const path = usesCookies ? '/_/auth/refresh' : `${realm}/auth/users/refresh`;
    const body = usesCookies ? {} : { refresh_token: session?.refresh_token ?? '' };
    const signal = AbortSignal.timeout(refreshTimeoutMs);
    const { refresh_token, ...rest } = await transport.json<Session>('POST', path, {
      body,
      signal,
      isAnonymous: true,
    });
    return usesCookies ? rest : { ...rest, refresh_token };
  };
  const connection = new Connection({ transport, home, credentials });
  keeper.listen(() => void connection.reauthorize());
  return {
    auth: createAuth({ transport, keeper, path: `${realm}/auth`, app, usesCookies }),
    collection: (name) => createRecords({ transport, connection, home }, name),
    // What few pages need is loaded when it is used.
    batch: async (make) => await (await import('./batch.ts')).sendBatch(transport, `${home}/batch`, make),
    route: async <N extends RouteName<T>>(name: N, ...[input]: RouteArguments<T['routes'][N]>) =>
      await (await import('./custom-routes.ts')).callRoute(transport, { home, name, input }) as RouteResponse<
        T['routes'][N]
      >,
    files: createFiles(transport, home),
    fetch: transport.fetch,
  };
}

function makeKeeper(
  url: string,
  { workspace, app, storage = sharedStorage() ?? memoryStorage(), token }: ClientOptions,
  exchange: (session: Session | undefined) => Promise<Session>,
) {
  const marker = storage === 'cookies' ? sharedStorage() ?? memoryStorage() : storage;
  return new SessionKeeper({
    key: `bulkhead:${url}:${workspace}:${app}`,
    storage: token === undefined ? marker : memoryStorage(),
    isShared: token === undefined && marker === sharedStorage(),
    usesCookies: storage === 'cookies',
    exchange,
  });
}
