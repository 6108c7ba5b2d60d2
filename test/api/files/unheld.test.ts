// Files that are deleted with the last record that holds them.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk } from '../../harness/api.ts';
import { blobFolderOf, upload } from '../../harness/file-app.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';
import { readdir } from 'node:fs/promises';

let app: Scenario;

beforeAll(async () => {
  app = await scenario({
    collections: {
      albums: [
        title,
        { name: 'cover', kind: 'file', delete_with_record: true },
        { name: 'pictures', kind: 'file', many: true, delete_with_record: true },
        { name: 'kept', kind: 'file' },
      ],
      others: [{ name: 'scan', kind: 'file' }, { name: 'scans', kind: 'file', many: true }],
      owned: [
        { name: 'owner', kind: 'relation', target: 'users', cascade_delete: true },
        { name: 'picture', kind: 'file', delete_with_record: true },
      ],
    },
  });
});

const file = async () => (await upload(app.admin, app.app, 'x')).id;
const statusOf = async (id: string) => (await app.admin.get(`${app.app.path}/files/${id}/meta`)).status;
const remove = async (collection: string, id: string): Promise<ApiResponse> =>
  await app.admin.delete(`${app.records(collection)}/${id}`);

describe('a record that is deleted', () => {
  it('takes files along where its fields say so, with their bytes', async () => {
    const [cover, one, two, kept] = [await file(), await file(), await file(), await file()];
    const id = await app.make(app.records('albums'), { cover, pictures: [one, two], kept });
    expectOk(await remove('albums', id));
    expect(await Promise.all([cover, one, two, kept].map(statusOf))).toEqual([404, 404, 404, 200]);
    const blobs = await readdir(await blobFolderOf(app.workspace.id), { recursive: true });
    expect(blobs.filter((name) => name.includes(cover))).toEqual([]);
    expect(blobs.filter((name) => name.includes(kept))).toHaveLength(1);
  });

  it('leaves files that another record holds, in whatever field, until that one goes', async () => {
    const [cover, one] = [await file(), await file()];
    const first = await app.make(app.records('albums'), { cover, pictures: [one] });
    const second = await app.make(app.records('albums'), { pictures: [cover] });
    const other = await app.make(app.records('others'), { scan: one, scans: [one] });
    expectOk(await remove('albums', first));
    expect([await statusOf(cover), await statusOf(one)]).toEqual([200, 200]);
    expectOk(await remove('albums', second));
    expectOk(await remove('others', other));
    // The field of the last record does not say so.
    expect([await statusOf(cover), await statusOf(one)]).toEqual([404, 200]);
  });

  it('takes them along in batches, and with the user that it depends on', async () => {
    const [cover, shared, picture] = [await file(), await file(), await file()];
    const first = await app.make(app.records('albums'), { cover, pictures: [shared] });
    const second = await app.make(app.records('albums'), { pictures: [shared] });
    expectOk(
      await app.admin.post(`${app.app.path}/batch`, {
        requests: [first, second].map((id) => ({ method: 'DELETE', collection: 'albums', id })),
      }),
    );
    expect([await statusOf(cover), await statusOf(shared)]).toEqual([404, 404]);
    const user = await app.user();
    await app.make(app.records('owned'), { owner: user.id, picture });
    expectOk(await app.workspace.admin.delete(`${app.workspace.path}/users/${user.id}`));
    expect(await statusOf(picture)).toBe(404);
  });

  it('takes along no file that a record begins to hold meanwhile', async () => {
    const albums = app.records('albums');
    for (let round = 0; round < 10; round++) {
      const cover = await file();
      const id = await app.make(albums, { cover });
      const [, created] = await Promise.all([
        remove('albums', id),
        app.admin.post(albums, { pictures: [cover] }),
      ]);
      // Whichever came first: no record holds what is not there.
      const held = created.status === 201
        ? expectOk(await app.admin.get(`${albums}/${created.body.id}`)).fields.pictures
        : [];
      expect([round, held.length, await statusOf(cover)]).toEqual([
        round,
        created.status === 201 ? 1 : 0,
        created.status === 201 ? 200 : 404,
      ]);
    }
  });
});
