// How often open streams have emails looked up when their rule reads them, and which ones they go by.
import { randomBytes, randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { InProcessBroker } from '../../../../api/realtime/broker.ts';
import { RuleGate } from '../../../../api/realtime/visibility/gate.ts';
import { Hub } from '../../../../api/realtime/hub.ts';
import type { ChangeScope } from '../../../../api/realtime/ports.ts';
import { exactTopic } from '../../../../api/realtime/topic.ts';
import type { Principal } from '../../../../api/scope.ts';
import type { AppDefinition } from '../../../../storage/definition.ts';
import { type FilteredTables, makeTables } from '../../../storage/app/filter/fixture.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const topic = { workspace: 'w', app: 'a', collection: 'posts' };

let tables: FilteredTables;
let drop: () => Promise<void>;
let app: AppDefinition;
let hub: Hub;
let changed: (place: ChangeScope) => void;

beforeAll(async () => {
  ({ tables, drop } = await makeTables());
});
afterAll(() => drop());

beforeEach(() => {
  app = appWith('title = @request.auth.email');
  const databases = {
    app: () => tables.pool,
    get control() {
      return tables.pool;
    },
  };
  const definitions = {
    workspace: async () => app.workspace,
    app: async () => app,
    onInvalidate: (listener: typeof changed) => {
      changed = listener;
      return () => undefined;
    },
  };
  const tokens = { current: (principal: Principal) => principal };
  const report = () => undefined;
  hub = new Hub({
    broker: new InProcessBroker(report),
    gate: new RuleGate({ databases, definitions, tokens, now: () => now }),
    report,
    now: () => performance.now(),
    cursorKey: randomBytes(16),
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await hub.close(0);
});

function appWith(filter: string): AppDefinition {
  const rules = { list: { template: 'filter' as const, filter } };
  const collections = [...tables.app.collections].map(([id, collection]) =>
    [id, { ...collection, rules }] as const
  );
  return { ...tables.app, collections: new Map(collections) };
}

interface User {
  principal: Principal;
  email: string;
}

async function makeUser(): Promise<User> {
  const email = `${randomUUID()}@example.com`;
  const id = await tables.insertUser({ email, verified: true });
  return { email, principal: { role: 'user', id, workspace: 'w', jti: id, issuedAt: 0, expiresAt: 9e9 } };
}

interface Watching {
  /** Titles of what it was shown, or how it ended. */
  shown: string[];
}

async function watch({ principal }: User): Promise<Watching> {
  const shown: string[] = [];
  const holder = { principal, address: '127.0.0.1', query: {} };
  const socket = new PassThrough().resume();
  const stream = hub.attach(socket, {
    place: topic,
    holder,
    claim: hub.claimStream(holder),
    wire: {
      isSingle: true,
      ping: undefined,
      events: (packet) => {
        shown.push(...String(packet.frames).matchAll(/"title":"([^"]*)"/g).map(([, title = '']) => title));
        return packet.frames;
      },
      reset: () => Buffer.from('reset'),
      failed: () => undefined,
      lost: (_id, { code }) => {
        shown.push(code);
        return undefined;
      },
      close: () => socket.destroy(),
    },
  });
  socket.once('close', () => stream.closed());
  const authorization = await hub.authorize({ topic, ...holder, filter: undefined });
  hub.subscribe(
    stream,
    { id: '', collection: 'posts', filter: undefined, since: undefined, authorization },
    () => {},
  );
  return { shown };
}

function write(title: string): void {
  const at = now.toISOString();
  const record = { id: randomUUID(), collection: 'posts', fields: { title }, created_at: at, updated_at: at };
  const posts = app.collections.get('posts') ?? expect.fail('there are no posts');
  hub.publish({ ...topic, incarnation: exactTopic(app, posts).incarnation }, {
    type: 'record_created',
    record,
  });
}

/** Waits until all have been shown as much as that. */
async function until(watching: readonly Watching[], count: number): Promise<void> {
  while (watching.some(({ shown }) => shown.length < count)) await nextTurn();
}

function setRule(filter: string): void {
  app = appWith(filter);
  changed({ workspace: 'w', app: 'a' });
}

it('the emails of all who watch an app are asked for in one query when its rules change', async () => {
  const users = await Promise.all(Array.from({ length: 40 }, makeUser));
  const watching: Watching[] = [];
  for (const user of [...users, ...users, ...users]) watching.push(await watch(user));
  const asked = vi.spyOn(tables.pool, 'run');
  setRule('title = @request.auth.email && views = null');
  for (const { email } of users) write(email);
  await until(watching, 1);
  expect(watching.map(({ shown }) => shown)).toEqual(
    [...users, ...users, ...users].map(({ email }) => [email]),
  );
  expect(asked).toHaveBeenCalledTimes(1);
});

it('an email that is changed while streams are looked at again is asked for anew', async () => {
  const [ada, bob] = [await makeUser(), await makeUser()];
  const [hers, his] = [await watch(ada), await watch(bob)];
  const { run } = tables.pool;
  const asked = vi.spyOn(tables.pool, 'run').mockImplementationOnce(async (work) => {
    const found = await run.call(tables.pool, work);
    await run.call(
      tables.pool,
      (sql) => sql`update workspace.users set email = ${`new.${bob.email}`} where id = ${bob.principal.id}`,
    );
    changed({ workspace: 'w' });
    return found;
  });
  changed({ workspace: 'w' });
  for (const email of [bob.email, `new.${bob.email}`, ada.email]) write(email);
  await until([hers, his], 1);
  expect([hers.shown, his.shown]).toEqual([[ada.email], [`new.${bob.email}`]]);
  expect(asked).toHaveBeenCalledTimes(2);
});

it('a look-up that fails ends the subscription that it was for, and no other', async () => {
  const [ada, bob] = [await makeUser(), await makeUser()];
  const watching = [await watch(ada), await watch(ada), await watch(bob)];
  vi.spyOn(tables.pool, 'run').mockRejectedValueOnce(new Error('the connection was lost'));
  changed({ workspace: 'w' });
  write(ada.email);
  write(bob.email);
  await until(watching, 1);
  expect(watching.map(({ shown }) => shown)).toEqual([['internal'], [ada.email], [bob.email]]);
});
