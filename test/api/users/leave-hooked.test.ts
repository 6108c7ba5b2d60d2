// Hooks hear of each record that goes with a user, before and after, and may stop it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import type { HookedWrite, RecordHooks, WriteAction } from '../../../api/hooks/ports.ts';
import { removeUser } from '../../../api/users/remove.ts';
import { Revocations } from '../../../api/auth/tokens/revocations.ts';
import { insertUser } from '../../../storage/workspace/user-accounts.ts';
import { type BareApp, bareApp, created, relationTo } from '../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('orders', [relationTo('users', 'owner', { cascade_delete: true })]);
  await app.define('tasks', [{ name: 'title', kind: 'text' }, relationTo('users', 'owner')]);
});
afterAll(() => app.end());

/** Hooks of every write, which note what they are told. */
function hooksThat(ask: (write: HookedWrite, action: WriteAction) => Record<string, unknown> | undefined) {
  const told: string[] = [];
  const note = (when: string, action: string, { record }: HookedWrite) =>
    told.push(`${when} ${action} ${record.collection} ${String(record.fields['title'] ?? '')}`.trim());
  const hooks: RecordHooks = {
    getWriteHooks: async () => ({
      isEmpty: false,
      on: (_collection, action) => ({
        before: true,
        after: true,
        runBefore: async (write) => {
          note('before', action, write);
          return ask(write, action);
        },
        runAfter: async (write) => {
          note('after', action, write);
        },
      }),
    }),
  };
  return { hooks, told };
}

async function userWithRecords(): Promise<string> {
  const id = app.deps.newId();
  const { workspace } = await app.definition();
  await app.deps.databases.workspace(workspace.database).run((sql) =>
    insertUser(sql, { id, email: `${id}@example.com`, password_hash: null, verified: true, now: created })
  );
  await app.create('orders', { owner: id });
  await app.create('tasks', { owner: id, title: 'task' });
  return id;
}

async function leave(id: string, hooks: RecordHooks): Promise<void> {
  const { workspace } = await app.definition();
  const revocations = new Revocations({
    databases: app.deps.databases,
    now: () => created,
    newId: app.deps.newId,
    observe: () => undefined,
    maxTokenLifeMs: 1_000,
  });
  await removeUser({ ...app.deps, hooks, revocations }, { workspace, id }, app.by);
}

it('hooks are asked of each record that goes with a user, change what stays, and are told after', async () => {
  const id = await userWithRecords();
  const { hooks, told } = hooksThat((_write, action) =>
    action === 'update' ? { title: 'orphan' } : undefined
  );
  await leave(id, hooks);
  expect(told).toEqual([
    'before delete orders',
    'before update tasks task',
    'after update tasks orphan',
    'after delete orders',
  ]);
  expect([await app.count('orders'), await app.count('tasks')]).toEqual([0, 1]);
});

it('a hook that refuses stops all of it', async () => {
  const id = await userWithRecords();
  const before = [await app.count('orders'), await app.count('tasks')];
  const { hooks, told } = hooksThat(() => {
    throw new ApiError('hook_veto', 'not this one');
  });
  await expect(leave(id, hooks)).rejects.toMatchObject({ code: 'hook_veto', message: 'not this one' });
  expect(told).toEqual(['before delete orders']);
  expect([await app.count('orders'), await app.count('tasks')]).toEqual(before);
  await leave(id, hooksThat(() => undefined).hooks);
  expect(await app.count('orders')).toBe(0);
});
