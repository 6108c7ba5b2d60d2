// Policy `files.read`: who may read files besides admins and uploaders.
import { expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { upload } from '../../harness/file-app.ts';
import { scenario } from '../../harness/scenario.ts';

const place = await scenario({
  collections: { posts: [{ name: 'cover', kind: 'file' }] },
  rules: { posts: { get: 'any', create: 'auth' } },
});
const { app, admin, workspace } = place;
const [ada, bob] = [await place.user(), await place.user()];
const lone = (await upload(ada, app, 'x')).id;
const held = (await upload(ada, app, 'x')).id;
expectOk(await ada.post(place.records('posts'), { cover: held }));

const field = '/policies/files.read';
const readers = (...allowed: string[]) => ({ kind: 'enum_set', allowed });

/** The statuses of the file that no record holds, and of the other. */
async function statuses(caller: Caller): Promise<number[]> {
  const get = async (id: string) => (await caller.get(`${app.path}/files/${id}/meta`)).status;
  return [await get(lone), await get(held)];
}

async function all(): Promise<number[][]> {
  return [await statuses(admin), await statuses(ada), await statuses(bob), await statuses(as())];
}

it('is `records` until a level says otherwise, and in effect at once', async () => {
  const byRecords = [[200, 200], [200, 200], [403, 200], [401, 200]];
  expect(await all()).toEqual(byRecords);
  expect(expectOk(await admin.get(app.path + field)))
    .toMatchObject({ spec: null, effective: readers('records'), set_by: { allowed: 'server' } });

  expectOk(await admin.put(app.path + field, readers('signed_in')));
  expect(await all()).toEqual([[200, 200], [200, 200], [200, 200], [401, 401]]);
  expectOk(await bob.post(place.records('posts'), { cover: lone }));
  expectError(await as().post(`${app.path}/files/${held}/link`), 401, 'unauthorized');

  expectOk(await admin.delete(app.path + field));
  expect(await all()).toEqual([[200, 200], [200, 200], [200, 200], [200, 200]]);
});

it('may be both, or neither, and an app keeps to what its workspace allows', async () => {
  const fresh = (await upload(ada, app, 'x')).id;
  const status = async (caller: Caller, id: string) => (await caller.get(`${app.path}/files/${id}`)).status;
  expectOk(await workspace.admin.put(workspace.path + field, readers('records', 'signed_in')));
  expect([await status(bob, fresh), await status(as(), fresh), await status(as(), held)])
    .toEqual([200, 401, 200]);
  expectOk(await workspace.admin.put(workspace.path + field, readers('records')));
  expectError(await admin.put(app.path + field, readers('signed_in')), 400, 'policy_violation');
  expectError(await admin.put(app.path + field, readers('anyone')), 400, 'validation');
  expectOk(await admin.put(app.path + field, readers()));
  expect([await status(bob, held), await status(as(), held), await status(ada, held)])
    .toEqual([403, 401, 200]);
  expectError(await bob.post(place.records('posts'), { cover: held }), 400, 'validation');
  expectOk(await ada.post(place.records('posts'), { cover: held }));
});
