// Collections that tests write to and watch as a client would.
import { randomUUID } from 'node:crypto';
import { type Ask, type EventClient, openEvents } from '../api/realtime/event-client.ts';
import { type ApiResponse, expectOk, serverUrl } from './api.ts';
import type { Rules, Scenario } from './scenario.ts';

/** Fields of a watched collection when none are given. */
export const watchedFields = [{ name: 'title', kind: 'text' }, { name: 'owner', kind: 'text' }];

/** A collection, written to by an admin. */
export interface Watched {
  name: string;
  /** Path of its records. */
  records: string;
  /** Path of its events. */
  events: string;
  watch(ask?: Ask): Promise<EventClient>;
  create(input?: Record<string, unknown>): Promise<ApiResponse['body']>;
  change(id: string, input: Record<string, unknown>): Promise<ApiResponse['body']>;
  remove(id: string): Promise<ApiResponse['body']>;
}

/** Makes a collection under a name that no other test has. */
export async function watched(
  app: Scenario,
  rules: Rules = { list: 'any' },
  fields: readonly object[] = watchedFields,
): Promise<Watched> {
  const name = `c${randomUUID().slice(0, 8)}`;
  const records = await app.define(name, fields, rules);
  const events = `${app.collections}/${name}/events`;
  return {
    name,
    records,
    events,
    watch: (ask = {}) => openEvents(Number(new URL(serverUrl()).port), { path: events, ...ask }),
    create: async (input = {}) => expectOk(await app.admin.post(records, input)),
    change: async (id, input) => expectOk(await app.admin.patch(`${records}/${id}`, input)),
    remove: async (id) => expectOk(await app.admin.delete(`${records}/${id}`)),
  };
}

/** The titles of the records that a client was shown. */
export function titlesOf(client: EventClient): unknown[] {
  return client.events.map(({ data }) => {
    const isRecord = typeof data === 'object' && data !== null && 'fields' in data;
    const fields = isRecord ? data.fields : undefined;
    return typeof fields === 'object' && fields !== null && 'title' in fields ? fields.title : undefined;
  });
}

/** The token of a caller who has one. */
export function tokenOf({ token }: { token: string | undefined }): string {
  if (token === undefined) throw new Error('a caller without a token');
  return token;
}

/** A relation field of a collection. */
export function relationTo(
  target: string,
  name: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { name, kind: 'relation', target, ...more };
}
