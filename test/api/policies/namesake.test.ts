// Apps and workspaces with the id of a deleted one: they get none of its policies, and no late change that was meant for it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../api/apps/create.ts';
import { removeApp } from '../../../api/apps/remove.ts';
import type { Caller } from '../../../api/audit/actor.ts';
import { createWorkspace } from '../../../api/workspaces/create.ts';
import { removeWorkspace } from '../../../api/workspaces/remove.ts';
import { LocalBlobs } from '../../../storage/blobs/local.ts';
import {
  type Change,
  listenForChanges,
  type NotificationListener,
  notifyChange,
} from '../../../storage/control/changes.ts';
import { uuidV7Source } from '../../../storage/sql/ids.ts';
import { listPoliciesFor, putPolicies } from '../../../storage/control/policies.ts';
import { listRevocations } from '../../../storage/control/revocations.ts';
import { type BareDeps, bareDeps, created } from '../../harness/bare-app.ts';
import { hookSettings } from '../../harness/hook-settings.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

const newId = uuidV7Source(Date.now);
const by: Caller = {
  principal: { role: 'master_admin', id: newId(), jti: newId(), issuedAt: 0, expiresAt: 0 },
  origin: { requestId: 'test', ip: '127.0.0.1', userAgent: '' },
  now: created,
};

let own: OwnInstallation;
let deps: BareDeps;
let listening: NotificationListener;
const heard: Change[] = [];
let onMark: () => void = () => undefined;

beforeAll(async () => {
  own = await ownInstallation();
  deps = bareDeps(await own.open(), { now: () => created, newId });
  await createWorkspace(deps, { id: 'acme', name: 'Acme' }, by);
  listening = await listenForChanges(own.access, {
    onChange: (change) => {
      if (change.kind === 'app' && change.app === 'mark') onMark();
      else heard.push(change);
    },
    onResync: () => undefined,
  });
});
afterAll(async () => {
  await listening.stop();
  await own.remove();
});

/** What a deletion works on that comes to nothing. */
const untouched = {
  config: { data_dir: '/nowhere', hooks: hookSettings('/nowhere/hooks') },
  blobs: new LocalBlobs('/nowhere'),
  hooks: { drop: unasked, dropWorkspace: unasked },
  upkeep: { poke: unasked },
  observe: unasked,
};

function unasked(): never {
  return expect.fail('it was touched');
}

/** Makes it, and answers what was published meanwhile, and whether this process forgot what it knew of policies. */
async function make(id: string): Promise<{ published: string[]; forgot: boolean }> {
  const workspace = await deps.definitions.workspace('acme');
  if (workspace === undefined) throw new Error('the workspace is not there');
  const before = deps.policyCache.revision;
  heard.length = 0;
  await createApp(deps, workspace, { id, name: 'An app', caller: by });
  const { promise, resolve } = Promise.withResolvers<void>();
  onMark = resolve;
  await deps.databases.control.run((sql) =>
    notifyChange(sql, { kind: 'app', workspace: 'acme', app: 'mark' })
  );
  await promise;
  const published = heard.map(({ kind }) => kind).filter((kind) => kind === 'policies');
  return { published, forgot: deps.policyCache.revision !== before };
}

describe('an app that is made', () => {
  it('publishes no change of policies when no app had its id before', async () => {
    expect(await make('shop')).toEqual({ published: [], forgot: false });
  });

  it('removes the policies of an earlier app of its id, and publishes that', async () => {
    const row = { workspace: 'acme', app: 'late', field: 'shop.discount', spec: { kind: 'free' } };
    const { control } = deps.databases;
    await control.run((sql) => putPolicies(sql, [{ ...row, updated_at: created }]));
    expect(await make('late')).toEqual({ published: ['policies'], forgot: true });
    expect(await control.run((sql) => listPoliciesFor(sql, 'acme'))).toEqual([]);
  });

  it('keeps its own when a late request deletes the earlier app of its id', async () => {
    await make('again');
    const row = { workspace: 'acme', app: 'again', field: 'shop.discount', spec: { kind: 'free' } };
    const { control } = deps.databases;
    await control.run((sql) => putPolicies(sql, [{ ...row, updated_at: created }]));
    const app = await deps.definitions.app('acme', 'again') ?? expect.fail('the app is not there');
    const late = removeApp({ ...deps, ...untouched }, { ...app, schema: 'a_earlier' }, by);
    await expect(late).rejects.toMatchObject({ code: 'app_not_found' });
    expect(await control.run((sql) => listPoliciesFor(sql, 'acme'))).toMatchObject([{ app: 'again' }]);
    expect(await control.run((sql) => listRevocations(sql, { now: created, since: undefined }))).toEqual([]);
  });
});

describe('a workspace that has the id of an earlier one', () => {
  const row = { workspace: 'acme', app: 'shared', field: 'shop.discount', spec: { kind: 'free' } };

  /** One whose database is still there, with an app in it that the later one has, too. */
  async function earlier() {
    const { definitions, databases } = deps;
    const other = await createWorkspace(deps, { name: 'Earlier' }, by);
    for (const workspace of [other, await definitions.workspace('acme')]) {
      if (workspace !== undefined) {
        await createApp(deps, workspace, { id: 'shared', name: 'Shared', caller: by });
      }
    }
    await databases.control.run((sql) => putPolicies(sql, [{ ...row, updated_at: created }]));
    const app = await definitions.app(other.id, 'shared') ?? expect.fail('the app is not there');
    return { ...app, workspace: { ...app.workspace, id: 'acme' } };
  }

  it('stays, and keeps what its apps have, when a deletion or an app comes late', async () => {
    const app = await earlier();
    const gone = { code: 'workspace_not_found' };
    const { workspace } = app;
    await expect(removeWorkspace({ ...deps, ...untouched }, workspace, by)).rejects.toMatchObject(gone);
    await expect(removeApp({ ...deps, ...untouched }, app, by)).rejects.toMatchObject(gone);
    const late = createApp(deps, workspace, { id: 'later', name: 'Late', caller: by });
    await expect(late).rejects.toMatchObject(gone);
    const { control } = deps.databases;
    expect(await control.run((sql) => listPoliciesFor(sql, 'acme'))).toContainEqual(
      expect.objectContaining({ app: 'shared' }),
    );
    expect(await control.run((sql) => listRevocations(sql, { now: created, since: undefined }))).toEqual([]);
    const kept = await deps.definitions.workspace('acme');
    expect(kept?.database).not.toBe(workspace.database);
  });
});
