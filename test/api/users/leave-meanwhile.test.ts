// A user is deleted while the apps that its records are in change or go: it leaves the apps as they are by then.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Revocations } from '../../../api/auth/tokens/revocations.ts';
import { createApp } from '../../../api/apps/create.ts';
import { removeApp } from '../../../api/apps/remove.ts';
import { createDefinitions } from '../../../api/collections/cache.ts';
import { createCollection } from '../../../api/collections/create.ts';
import { dropCollection } from '../../../api/collections/drop.ts';
import { ApiError } from '../../../api/errors.ts';
import type { RecordHooks } from '../../../api/hooks/ports.ts';
import { removeUser } from '../../../api/users/remove.ts';
import { LocalBlobs } from '../../../storage/blobs/local.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../../storage/definition.ts';
import { findUser, insertUser } from '../../../storage/workspace/user-accounts.ts';
import { type BareApp, bareApp, created, relationTo } from '../../harness/bare-app.ts';

let shop: BareApp;
let workspace: WorkspaceDefinition;
let id: string;
let asked: string[];

const owner = relationTo('users', 'owner', { cascade_delete: true });

beforeEach(async () => {
  shop = await bareApp();
  const { deps } = shop;
  ({ workspace } = await shop.definition());
  id = deps.newId();
  asked = [];
  await deps.databases.workspace(workspace.database).run((sql) =>
    insertUser(sql, { id, email: 'ada@example.com', password_hash: null, verified: true, now: created })
  );
  await shop.define('orders', [owner]);
  await shop.create('orders', { owner: id });
});
afterEach(() => shop.end());

/** Hooks of deletions, which note that they are asked; `found` hears whose are looked for, `ask` of each that is asked. */
function hooksThat(
  { found, ask }: { found?: (app: AppDefinition) => Promise<void>; ask?: () => Promise<void> },
): RecordHooks {
  return {
    getWriteHooks: async (app) => {
      await found?.(app);
      const hooks = {
        before: true,
        after: false,
        runBefore: async () => {
          asked.push(app.id);
          await ask?.();
          return undefined;
        },
        runAfter: () => Promise.resolve(),
      };
      return { isEmpty: false, on: (_collection, action) => action === 'delete' ? hooks : undefined };
    },
  };
}

async function leave(hooks: RecordHooks): Promise<void> {
  const { databases, newId } = shop.deps;
  const parts = { databases, newId, now: () => created, observe: () => undefined, maxTokenLifeMs: 1_000 };
  await removeUser({ ...shop.deps, hooks, revocations: new Revocations(parts) }, { workspace, id }, shop.by);
}

async function expectGone(): Promise<void> {
  const connection = shop.deps.databases.workspace(workspace.database);
  expect(await connection.run((sql) => findUser(sql, id))).toBeUndefined();
}

const unheeded = { hooks: { drop: () => undefined }, blobs: new LocalBlobs('/nowhere') };

/** Another process's view of the same installation. */
const elsewhere = () => ({ ...shop.deps, definitions: createDefinitions(shop.deps) });

it('without one whose hooks ended because it was deleted while they were asked', async () => {
  const app = await shop.definition();
  const end = new ApiError('hook_error', 'the hook runner was stopped while the hook ran');
  await leave(hooksThat({
    ask: async () => {
      await removeApp({ ...shop.deps, ...unheeded }, app, shop.by);
      throw end;
    },
  }));
  await expectGone();
  expect(asked).toEqual(['shop']);
});

it('hearing from the hooks of one that is still there', async () => {
  const end = new ApiError('hook_error', 'the hook runner was stopped while the hook ran');
  const leaving = leave(hooksThat({ ask: () => Promise.reject(end) }));
  await expect(leaving).rejects.toBe(end);
  expect([asked, await shop.count('orders')]).toEqual([['shop'], 1]);
});

it('without one that was deleted after it was found, and asks nobody twice for that', async () => {
  const { deps, by } = shop;
  await createApp(deps, workspace, { id: 'zoo', name: 'Zoo', caller: by });
  const zoo = await deps.definitions.app('acme', 'zoo') ?? expect.fail();
  await createCollection(deps, zoo, { declared: { id: 'animals', fields: [owner] }, by });
  await leave(hooksThat({
    found: async ({ id }) => {
      if (id === 'zoo') await removeApp({ ...elsewhere(), ...unheeded }, zoo, by);
    },
  }));
  await expectGone();
  expect(asked).toEqual(['shop']);
});

it('by what its collections are by then', async () => {
  await shop.define('notes', [owner]);
  let isDropped = false;
  await leave(hooksThat({
    found: async (app) => {
      if (isDropped) return;
      isDropped = true;
      await dropCollection(elsewhere(), app, { id: 'notes', by: shop.by });
    },
  }));
  await expectGone();
  expect([asked, await shop.count('orders')]).toEqual([['shop'], 0]);
});
