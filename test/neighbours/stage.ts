// A server with a neighbour in a workspace of its own, and workspaces for attackers.
import { randomInt } from 'node:crypto';
import { type BenchServer, makeDataDir, removeDataDir, startServer } from '../bench/server.ts';
import { masterLogin, setUp } from '../bench/stage.ts';
import type { VictimPlan } from './victim.ts';

/** A server that is set up, with the neighbour in it. */
export interface Neighbourhood {
  server: BenchServer;
  master: string;
  victim: VictimPlan;
}

/** A workspace that attacks, and who may do anything in it. */
export interface Evil {
  server: BenchServer;
  /** `/api/workspaces/<id>` */
  path: string;
  /** Token of the workspace's admin. */
  token: string;
  /** Anything of the workspace's API, from its path on. Throws on any status but 2xx. */
  send(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

/** An address of nobody else's: set-up is no part of what is measured, and takes from no limit. */
export function anyAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
}

async function request(
  url: string,
  { method, token, body }: { method: string; token?: string; body?: unknown },
): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method,
    headers: {
      'X-Forwarded-For': anyAddress(),
      'Content-Type': 'application/json',
      ...token === undefined ? {} : { Authorization: `Bearer ${token}` },
    },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  });
  const received = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} got ${response.status}: ${received}`);
  const value: unknown = received === '' ? {} : JSON.parse(received);
  return { ...(typeof value === 'object' ? value : {}) };
}

const password = 'a password of the neighbourhood';
const text = { name: 'title', kind: 'text' };

/**
 * Starts such a server. It believes `X-Forwarded-For`, so that attackers come from as many addresses as they like, and has its
 * usual limits.
 */
export async function openNeighbourhood(): Promise<Neighbourhood & AsyncDisposable> {
  const dataDir = await makeDataDir();
  const usual = ['rate_limit.per_second=50', 'rate_limit.burst=100', 'http.trust_proxy=true'];
  const server = await startServer(dataDir, [...usual, 'hooks.type_check=false']);
  const stop = async () => {
    await server.stop();
    await removeDataDir(dataDir);
  };
  try {
    await setUp(server);
    const master = await masterLogin(server);
    // The worst that an operator may permit.
    await request(`${server.url}/api/system/policies/hooks.cron_min_sec`, {
      method: 'PUT',
      token: master,
      body: { kind: 'range', min: 1, max: 86_400 },
    });
    return { server, master, victim: await makeVictim(server, master), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A collection with records, and one where a hook looks at each record. */
async function makeVictim(server: BenchServer, master: string): Promise<VictimPlan> {
  const { send, path, token } = await makeTenant(server, master, 'victim');
  await makeApp(send, 'shop', 'orders', 'hooked');
  const source =
    `onRecordBeforeCreate('hooked', (e) => { if (e.record.fields.title === '') throw new Error('no'); });`;
  await send('PUT', '/apps/shop/hooks/guard.js', { source });
  const records = '/apps/shop/collections/orders/records';
  const { id } = await send('POST', records, { title: 'the first one' });
  for (let made = 0; made < 40; made++) await send('POST', records, { title: `order ${made}` });
  return {
    records: `${server.url}${path}${records}`,
    hooked: `${server.url}${path}/apps/shop/collections/hooked/records`,
    token,
    id: String(id),
  };
}

/** Makes a workspace for an attack. */
export async function makeEvil({ server, master }: Neighbourhood, id: string): Promise<Evil> {
  return await makeTenant(server, master, id);
}

/** Deletes it again, and whatever it still does. */
export async function removeEvil({ server, master }: Neighbourhood, { path }: Evil): Promise<void> {
  await request(`${server.url}${path}`, { method: 'DELETE', token: master });
}

/** Makes an app with collections of one text, which anybody may list, read and create. */
export async function makeApp(send: Evil['send'], id: string, ...collections: string[]): Promise<string> {
  await send('POST', '/apps', { id, name: id });
  for (const collection of collections) {
    await send('POST', `/apps/${id}/collections`, {
      schema: { id: collection, kind: 'base', fields: [text] },
    });
    for (const action of ['list', 'get', 'create']) {
      await send('PUT', `/apps/${id}/collections/${collection}/access_rules/${action}`, { template: 'any' });
    }
  }
  return `/apps/${id}`;
}

async function makeTenant(server: BenchServer, master: string, id: string): Promise<Evil> {
  const path = `/api/workspaces/${id}`;
  await request(`${server.url}/api/workspaces`, { method: 'POST', token: master, body: { id, name: id } });
  const email = `admin@${id}.example`;
  await request(`${server.url}${path}/admins`, {
    method: 'POST',
    token: master,
    body: { email, password, app_ids: [] },
  });
  const session = await request(`${server.url}${path}/auth/admin/login`, {
    method: 'POST',
    body: { email, password },
  });
  const token = String(session['access_token']);
  return {
    server,
    path,
    token,
    send: (method, to, body) => request(`${server.url}${path}${to}`, { method, token, body }),
  };
}
