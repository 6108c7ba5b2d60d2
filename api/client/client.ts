// The client of an app: what `bulkhead/client` exports.
import { type BatchMaker, type BatchResponses, type BatchWrite, sendBatch } from './batch.ts';
import { createRecords, type Records } from './records.ts';
import { createTransport, type RequestOptions, type Transport } from './transport.ts';
import type { AppShape, CollectionName, LooseTypes } from './types.ts';

/** Which app, and how to reach it. */
export interface ClientOptions {
  workspace: string;
  app: string;
  /** An access token or API key of a program, in place of a session. */
  token?: string | undefined;
  /** Sends the requests; default: the `fetch` of the runtime. */
  fetch?: typeof fetch | undefined;
}

/** A client of one app. */
export interface Client<T extends AppShape> {
  /** The records of a collection. */
  collection<C extends CollectionName<T>>(name: C): Records<T, C>;
  /** Sends up to 100 writes, of which all happen or none. */
  batch<const W extends readonly BatchWrite<unknown>[]>(make: BatchMaker<T, W>): Promise<BatchResponses<W>>;
  /** Sends a request to any path of the server, with the token. Throws `ConnectionError`; see `readError` for the rest. */
  fetch(method: string, path: string, options?: RequestOptions): Promise<Response>;
}

/** Makes a client. `url` is where the server is; in a page of an app's own origin it may be empty. */
export function createClient<T extends AppShape = LooseTypes>(
  url: string,
  options: ClientOptions,
): Client<T> {
  const { workspace, app, token, fetch = (...sent) => globalThis.fetch(...sent) } = options;
  const credentials = { token: () => Promise.resolve(token), renew: () => Promise.resolve(undefined) };
  const transport: Transport = createTransport({ url, credentials, fetch, cookies: 'omit' });
  const home = `/api/workspaces/${encodeURIComponent(workspace)}/apps/${encodeURIComponent(app)}`;
  return {
    collection: (name) => createRecords(transport, `${home}/collections/${encodeURIComponent(name)}/records`),
    batch: (make) => sendBatch(transport, `${home}/batch`, make),
    fetch: transport.fetch,
  };
}
