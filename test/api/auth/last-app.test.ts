// What becomes of an app admin without any app.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';

let workspace: OwnWorkspace;
let path: string;
beforeAll(async () => {
  workspace = await ownWorkspace();
  path = `${workspace.path}/admins`;
});

describe('an app admin', () => {
  it('admins.last-app: one whose last app is deleted stays an app admin, unless the master says otherwise', async () => {
    const app = await workspace.app();
    const ann = await workspace.login([app.id]);
    expectOk(await workspace.master.delete(app.path));
    const patch = async (body: object) => expectOk(await workspace.master.patch(`${path}/${ann.id}`, body));
    const of = (role: string) => ({ role, app_ids: [] });
    expect(await patch({ name: 'Ann', app_ids: [] })).toMatchObject(of('app_admin'));
    expect((await ann.get(`${workspace.path}/users`)).status).toBe(403);
    expect(await patch({ role: 'workspace_admin' })).toMatchObject(of('workspace_admin'));
    expect((await ann.get(`${workspace.path}/users`)).status).toBe(200);
    expect(await patch({ app_ids: [], role: 'app_admin' })).toMatchObject(of('app_admin'));
    expect((await ann.get(`${workspace.path}/users`)).status).toBe(403);
  });

  it('takes the apps of an app admin away by an empty list, which makes a workspace admin', async () => {
    const app = await workspace.app();
    const ann = await workspace.login([app.id]);
    const response = await workspace.master.patch(`${path}/${ann.id}`, { role: 'workspace_admin' });
    expect([response.status, response.body.message]).toEqual([
      400,
      'role: needs an empty app_ids: a workspace admin has all apps',
    ]);
    expect(expectOk(await workspace.master.patch(`${path}/${ann.id}`, { app_ids: [] })).role).toBe(
      'workspace_admin',
    );
  });
});
