// Quotas of what a workspace or an app has: apps, collections, files.
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { put } from '../../harness/file-app.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';

let place: Scenario;

beforeEach(async () => {
  place = await scenario({ collections: { notes: [title] } });
});

function statuses(responses: readonly ApiResponse[]): number[] {
  return responses.map(({ status }) => status).sort();
}

describe('quota.apps', () => {
  const make = () => place.workspace.admin.post(`${place.workspace.path}/apps`, { name: 'Another' });

  it('refuses the app above it, however many are made at once, and takes one again once one is deleted', async () => {
    const { workspace: own, setQuota, app } = place;
    await setQuota('apps', 3, own.path);
    const responses = await Promise.all(Array.from({ length: 5 }, make));
    expect(statuses(responses)).toEqual([201, 201, 403, 403, 403]);
    const refused = await make();
    expectError(refused, 403, 'quota_exceeded');
    expect(refused.body.message).toBe('quota.apps allows 3 apps in the workspace');
    expect(expectOk(await own.admin.get(`${own.path}/usage`))).toMatchObject({
      apps: 3,
      quotas: { apps: 3 },
    });
    expectOk(await own.admin.delete(app.path));
    expectOk(await make());
  });

  it('is 100 until the master admin sets another (finding 13 of the attack: apps without bound)', async () => {
    const { workspace: own } = place;
    expect(expectOk(await own.admin.get(`${own.path}/usage`)).quotas.apps).toBe(100);
    const wider = { kind: 'range', min: 0, max: 101 };
    const refused = await own.admin.put(`${own.path}/policies/quota.apps`, wider);
    expectError(refused, 400, 'policy_violation');
  });
});

describe('quota.collections', () => {
  it('refuses the collection above it', async () => {
    const { admin, app, setQuota } = place;
    const define = (id: string) =>
      admin.post(`${app.path}/collections`, { schema: { id, kind: 'base', fields: [] } });
    await setQuota('collections', 2);
    expectOk(await define('second'));
    const refused = await define('third');
    expectError(refused, 403, 'quota_exceeded');
    expect(refused.body.message).toBe('quota.collections allows 2 collections in the app');
    const shown = expectOk(await admin.get(`${app.path}/usage`));
    expect(shown).toMatchObject({ collections: 2, quotas: { collections: 2 } });
    expectOk(await admin.delete(`${app.path}/collections/second`));
    expectOk(await define('third'));
  });
});

describe('quota.files', () => {
  it('refuses the file above it, however many are sent at once, and takes one again once one is deleted', async () => {
    const { admin, app, setQuota } = place;
    await setQuota('files', 2);
    const responses = await Promise.all(Array.from({ length: 5 }, () => put(admin, app, Buffer.from('x'))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403]);
    const refused = await put(admin, app, Buffer.from('x'));
    expect(await refused.json()).toEqual({
      code: 'quota_exceeded',
      message: 'quota.files allows 2 files in the app',
    });
    const shown = expectOk(await admin.get(`${app.path}/usage`));
    expect(shown).toMatchObject({ files: 2, quotas: { files: 2 } });
    const [first] = expectOk(await admin.get(`${app.path}/files`)).items;
    expectOk(await admin.delete(`${app.path}/files/${first.id}`));
    expect((await put(admin, app, Buffer.from('x'))).status).toBe(201);
  });
});
