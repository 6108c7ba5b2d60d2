// Who may do what with files: principals, links, and what remains of an app or workspace that is gone.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { blobFolderOf, fileApp, get, put, upload } from '../../harness/file-app.ts';

const files = await fileApp();
const { app, user } = files;

describe('who may do what', () => {
  it('file.authz: end-users see and delete their own in the list, read any of the app, and none of another', async () => {
    const fresh = await files.own.app();
    const mine = JSON.parse(await (await put(user, fresh, 'mine')).text());
    const theirs = JSON.parse(await (await put(files.other, fresh, 'theirs')).text());
    const ids = (answer: { items: { id: string }[] }) => answer.items.map(({ id }) => id);
    expect(ids(expectOk(await user.get(`${fresh.path}/files`)))).toEqual([mine.id]);
    expect(ids(expectOk(await fresh.admin.get(`${fresh.path}/files`)))).toEqual([theirs.id, mine.id]);
    expect((await get(user, `${fresh.path}/files/${theirs.id}`)).status).toBe(200);
    expectError(await user.delete(`${fresh.path}/files/${theirs.id}`), 403, 'forbidden');
    for (const path of [`/files/${mine.id}`, `/files/${mine.id}/meta`]) {
      expectError(await as().get(fresh.path + path), 401, 'unauthorized');
      expectError(await user.get(app.path + path), 404, 'not_found');
      expectError(await app.admin.get(fresh.path + path), 403, 'forbidden');
    }
    expectError(await user.delete(`${app.path}/files/${mine.id}`), 404, 'not_found');
    expect(expectOk(await user.delete(`${fresh.path}/files/${mine.id}`))).toEqual({ ok: true });
    expectError(await user.get(`${fresh.path}/files/${mine.id}`), 404, 'not_found');
    expectError(await user.delete(`${fresh.path}/files/${mine.id}`), 404, 'not_found');
    expectOk(await fresh.admin.delete(`${fresh.path}/files/${theirs.id}`));
    expect(await files.blobs()).not.toContain(theirs.id);
  });

  it('takes no id that is none', async () => {
    for (const id of ['x', '..%2f..%2fmaster.key', randomUUID()]) {
      expectError(await user.get(`${app.path}/files/${id}`), 404, 'not_found');
    }
  });
});

describe('a link', () => {
  it('lets anybody read the one file, until it expires or the file is gone', async () => {
    const { id } = await upload(user, app, 'for a browser');
    const link = expectOk(await user.post(`${app.path}/files/${id}/link`, { expires_in: 60 }));
    expect(Date.parse(link.expires_at) - Date.now()).toBeGreaterThan(55_000);
    const answer = await get(as(), link.url);
    expect([answer.status, await answer.text()]).toEqual([200, 'for a browser']);
    const otherFile = await upload(user, app, 'another');
    for (
      const url of [
        link.url.replace(id, otherFile.id),
        link.url.replace(/expires=\d+/, 'expires=99999999999'),
        link.url.replace(/signature=.{4}/, 'signature=AAAA'),
      ]
    ) expectError(await as().get(url), 403, 'forbidden');
    expectError(await as().get(link.url.split('?')[0] ?? ''), 400, 'validation');
    expectOk(await user.delete(`${app.path}/files/${id}`));
    expectError(await as().get(link.url), 404, 'not_found');
  });

  it('lives five minutes when nobody says, and a week at most', async () => {
    const { id } = await upload(user, app, 'x');
    const link = expectOk(await user.post(`${app.path}/files/${id}/link`));
    const seconds = (Date.parse(link.expires_at) - Date.now()) / 1_000;
    expect(seconds).toBeGreaterThan(290);
    expect(seconds).toBeLessThanOrEqual(300);
    expectError(await user.post(`${app.path}/files/${id}/link`, { expires_in: 604_801 }), 400, 'validation');
  });
});

describe('with its app or workspace', () => {
  it('tenant.delete-complete: the bytes of files go too', async () => {
    const leaving = await ownWorkspace();
    const [first, second] = [await leaving.app(), await leaving.app()];
    const put = async (caller: Caller, path: string) => {
      const answer = await fetch(`${serverUrl()}${path}/files`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${caller.token}` },
        body: 'x',
      });
      return String(JSON.parse(await answer.text()).id);
    };
    const ids = [await put(leaving.admin, first.path), await put(leaving.admin, second.path)];
    const folder = await blobFolderOf(leaving.id);
    const left = async () =>
      (await readdir(folder, { recursive: true })).filter((name) => ids.some((id) => name.includes(id)));
    expect(await left()).toHaveLength(2);
    expectOk(await leaving.admin.delete(first.path));
    expect((await left()).join()).toContain(ids[1]);
    expect(await left()).toHaveLength(1);
    expectOk(await leaving.master.delete(`/api/workspaces/${leaving.id}`));
    await expect.poll(() => existsSync(folder), { timeout: 20_000 }).toBe(false);
  });
});
