// A server with something in it: set up, with a workspace, an app and a collection to write to.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { type Answer, as, type Caller, expectOk } from './api.ts';

/** Limits that no test reaches by accident. */
export const unlimited = { rate_limit: { per_second: 1_000_000, burst: 1_000_000 } };

const password = 'correct horse battery staple';

/** One collection of one app. */
export interface Storefront {
  master: Caller;
  /** `/api/workspaces/acme/apps/shop/collections/orders/records` */
  records: string;
  /** Writes a record under an id of the caller's. */
  write(id: string): Promise<Answer>;
  read(id: string): Promise<Answer>;
  /** The same after a restart, at another address. */
  at(url: string): Storefront;
}

/** Sets the server up and fills it. */
export async function openStorefront(url: string): Promise<Storefront> {
  const anyone = as(undefined, url);
  expectOk(await anyone.post('/_/setup', { password }));
  const login = () => anyone.post('/_/auth/admin/login', { username: 'admin', password });
  // Of several processes, those that did not answer the setup hear of it within 300 ms.
  await vi.waitFor(async () => expect((await login()).body.code).not.toBe('uninitialized'), {
    timeout: 10_000,
  });
  const { access_token: token } = expectOk(await login());
  const master = as(String(token), url);
  expectOk(await master.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await master.post('/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
  const app = '/api/workspaces/acme/apps/shop';
  const fields = [{ name: 'title', kind: 'text', required: true }];
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
  return at(url, String(token));
}

function at(url: string, token: string): Storefront {
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
  /** Every other answer; a connection that broke is status 0. */
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
      const answer = await store.write(id).catch(() => undefined);
      if (answer?.status === 201) journal.acknowledged.push(id);
      else {
        const retryAfter = answer?.headers.get('retry-after') ?? null;
        journal.refused.push({ status: answer?.status ?? 0, retryAfter, at: performance.now() });
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
