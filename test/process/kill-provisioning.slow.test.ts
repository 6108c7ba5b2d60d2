// The API killed while it makes and deletes workspaces and apps. `BULKHEAD_TEST_FAULTS=all` kills it as
// often as the fault plan asks.
import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Pool } from '../../storage/connections/pool.ts';
import { unlimitedPermits as anyNumber } from '../../storage/connections/permits.ts';
import { type ApiResponse, type Caller, expectOk } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { apiPidOf, killApi, timesOf, untilBack } from '../harness/kills.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const rounds = timesOf({ few: 20, all: 200 });
const workspaces = '/api/workspaces';
let server: TestServer;
let master: Caller;
beforeAll(async () => {
  server = await startServer({ config: unlimited });
  ({ master } = await openStorefront(server.url));
});
afterAll(() => server.stop());

/** What is asked for while the API is killed, and what is there before and afterwards. */
interface Step {
  name: string;
  ask: (id: string) => Promise<ApiResponse>;
  /** Of whom it is asked again: done now, or done before. */
  done: number;
  before: number;
  look: (id: string) => Promise<ApiResponse>;
}

const pathOf = (id: string) => `${workspaces}/${id}`;
const appOf = (id: string) => `${workspaces}/${id}/apps/shop`;
const makeWorkspace = (id: string) => master.post(workspaces, { id, name: 'Killed' });
const makeApp = (id: string) => master.post(`${pathOf(id)}/apps`, { id: 'shop', name: 'Shop' });
const seeWorkspace = (id: string) => master.get(pathOf(id));
const seeApp = (id: string) => master.get(appOf(id));

/** The life of a workspace; the API is killed at one step of it, and the whole life goes on. */
const life: readonly Step[] = [
  { name: 'make a workspace', ask: makeWorkspace, done: 201, before: 409, look: seeWorkspace },
  { name: 'make an app', ask: makeApp, done: 201, before: 409, look: seeApp },
  { name: 'delete an app', ask: (id) => master.delete(appOf(id)), done: 200, before: 404, look: seeApp },
  {
    name: 'delete a workspace',
    ask: (id) => master.delete(pathOf(id)),
    done: 200,
    before: 404,
    look: seeWorkspace,
  },
];

/** Milliseconds that each step took the last time: the kill comes at any time within. */
const latest = new Map<string, number>();

async function timed({ name, ask }: Step, id: string): Promise<ApiResponse> {
  const began = performance.now();
  const response = await ask(id);
  latest.set(name, performance.now() - began);
  return response;
}

/** Asks, kills the API meanwhile, asks again. Answers what became of the first time. */
async function killedDuring(step: Step, id: string): Promise<string> {
  const pid = await apiPidOf(server);
  // A connection that broke says nothing.
  const asked = step.ask(id).catch(() => undefined);
  await pause(randomInt(Math.ceil(latest.get(step.name) ?? 1) + 1));
  await killApi(pid);
  const first = await asked;
  await untilBack(server);
  const again = await step.ask(id);
  expect([step.done, step.before], `${step.name}: ${again.text}`).toContain(again.status);
  // What was acknowledged is not done again.
  if (first !== undefined) expect([first.status, again.status]).toEqual([step.done, step.before]);
  expect((await step.look(id)).status).toBe(step.done === 201 ? 200 : 404);
  if (again.status === step.before) return first === undefined ? 'done, not answered' : 'done';
  return 'not done';
}

/** A workspace that is there can be used, with its app where it has one. */
async function expectWhole(id: string): Promise<void> {
  const { items } = expectOk(await master.get(`${pathOf(id)}/apps`));
  for (const app of items) expect(app.id).toBe('shop');
  if (items.length === 0) return;
  const fields = [{ name: 'title', kind: 'text' }];
  expectOk(await master.post(`${appOf(id)}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
  expectOk(await master.post(`${appOf(id)}/collections/orders/records`, { title: 'whole' }));
  expectOk(await master.put(`${appOf(id)}/hooks/hook.js`, { source: '// nothing' }));
  const upload = await fetch(`${server.url}${appOf(id)}/files`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${master.token}` },
    body: 'whole',
  });
  expect(upload.status).toBe(201);
}

/** What the cluster and the disk have of tenants, by opaque names; of hook files, which have others, all. */
async function remains() {
  const pool = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
    cap: 1,
    permits: anyNumber,
    now: Date.now,
  });
  const names = (text: string) =>
    pool.run((sql) => sql.unsafe<{ name: string }[]>(text)).then((rows) =>
      rows.map(({ name }) => name).sort()
    );
  const folders = async (...path: string[]) => (await readdir(join(server.dataDir, ...path))).sort();
  try {
    return {
      states: await names('select distinct state as name from control.tenant_databases'),
      known: await names('select name from control.tenant_databases'),
      databases: await names(`select datname as name from pg_database where datname like 'w\\_%'`),
      roles: await names(`select rolname as name from pg_roles where rolname like 'w\\_%'`),
      // A spare has the schema of its first app ready.
      apps: (await names(`select rolname as name from pg_roles where rolname like 'a\\_%'`)).length,
      owners: (await names(`select rolname as name from pg_roles where rolname like 'o\\_%'`)).length,
      blobs: await folders('blobs'),
      hooks: (await folders('hooks')).filter((name) => name !== '.leaving'),
      leaving: await folders('hooks', '.leaving'),
    };
  } finally {
    await pool.end();
  }
}

it(`does each thing once or not at all in ${rounds} kills, and leaves nothing behind`, async () => {
  for (const step of life) expectOk(await timed(step, 'timed'));
  const outcomes: Record<string, Record<string, number>> = {};
  for (let round = 0; round < rounds; round++) {
    const id = `killed${round}`;
    for (const [index, step] of life.entries()) {
      if (index !== round % life.length) {
        expectOk(await timed(step, id));
      } else {
        const outcome = await killedDuring(step, id);
        const seen = outcomes[step.name] ??= {};
        seen[outcome] = (seen[outcome] ?? 0) + 1;
      }
      if (step.done === 201) await expectWhole(id);
    }
    expect((await seeWorkspace(id)).status).toBe(404);
  }
  console.log(outcomes);
  const { items } = expectOk(await master.get(workspaces));
  expect(items.map(({ id }: { id: string }) => id)).toEqual(['acme']);
  expectOk(await master.delete(pathOf('acme')));
  const began = performance.now();
  await expect.poll(remains, { timeout: 60_000, interval: 100 }).toSatisfy(
    ({ states, known, databases, roles, apps, owners, blobs, hooks, leaving }) =>
      states.join() === 'spare' && known.join() === databases.join() && known.join() === roles.join() &&
      apps === known.length && owners === apps && [...blobs, ...hooks, ...leaving].length === 0,
  );
  console.log(`nothing left ${Math.round(performance.now() - began)} ms after the last deletion`);
}, 120_000 + rounds * 8_000);
