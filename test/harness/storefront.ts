// A server with something in it: set up, with a workspace, an app and a collection to write to.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiResponse, as, type Caller, expectOk } from './api.ts';
import { makeShop, setUp } from './set-up.ts';

/** Limits that no test reaches by accident. */
export const unlimited = { rate_limit: { per_second: 1_000_000, burst: 1_000_000 } };

/** One collection of one app. */
export interface Storefront {
  master: Caller;
  /** `/api/workspaces/acme/apps/shop/collections/orders/records` */
  records: string;
  /** Writes a record under an id of the caller's. */
  write(id: string): Promise<ApiResponse>;
  read(id: string): Promise<ApiResponse>;
  /** The same after a restart, at another address. */
  at(url: string): Storefront;
}

/** Sets the server up and fills it. */
export async function openStorefront(url: string): Promise<Storefront> {
  const master = await setUp(url);
  const app = await makeShop(master);
  const fields = [{ name: 'title', kind: 'text', required: true }];
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
  return at(url, master.token);
}

function at(url: string, token: string | undefined): Storefront {
  const master = as(token, url);
  const records = '/api/workspaces/acme/apps/shop/collections/orders/records';
  return {
    master,
    records,
    write: (id) => master.post(records, { id, title: `order ${id}` }),
    read: (id) => master.get(`${records}/${id}`),
    at: (other) => at(other, token),
  };
}

/** What writers were answered. */
export interface Journal {
  /** Ids whose write was answered 201. */
  acknowledged: string[];
  /** Every other response; a connection that broke is status 0. */
  refused: { status: number; retryAfter: string | null; at: number }[];
}

/** Writes with several writers at once until told to stop, and then says what they were answered. */
export function writeUntilStopped(
  store: Storefront,
  writers: number,
): { journal: Journal; stop(): Promise<Journal> } {
  const journal: Journal = { acknowledged: [], refused: [] };
  let going = true;
  const one = async () => {
    while (going) {
      const id = randomUUID();
      // A broken connection says nothing of whether the record was written.
      const response = await store.write(id).catch(() => undefined);
      if (response?.status === 201) journal.acknowledged.push(id);
      else {
        const retryAfter = response?.headers.get('retry-after') ?? null;
        journal.refused.push({ status: response?.status ?? 0, retryAfter, at: performance.now() });
        // A turn of the event loop, so that a refused connection does not become a busy loop.
        await pause(5);
      }
    }
  };
  const all = Promise.all(Array.from({ length: writers }, one));
  return {
    journal,
    stop: async () => {
      going = false;
      await all;
      return journal;
    },
  };
}
