// Who may do what with files: principals, links, and what remains of an app or workspace that is gone.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { blobFolderOf, fileApp, get, put, upload } from '../../harness/file-app.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { howManyWait } from '../../harness/waiting.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';
import { qualified } from '../../../storage/app/tables.ts';

const files = await fileApp();
const { app, user } = files;

describe('who may do what', () => {
  it('file.authz: end-users list, read and delete their own, and none of another app', async () => {
    const fresh = await files.own.app();
    const mine = JSON.parse(await (await put(user, fresh, 'mine')).text());
    const theirs = JSON.parse(await (await put(files.other, fresh, 'theirs')).text());
    const admins = JSON.parse(await (await put(fresh.admin, fresh, 'of an admin')).text());
    const ids = (response: { items: { id: string }[] }) => response.items.map(({ id }) => id);
    expect(ids(expectOk(await user.get(`${fresh.path}/files`)))).toEqual([mine.id]);
    expect(ids(expectOk(await fresh.admin.get(`${fresh.path}/files`)))).toEqual([
      admins.id,
      theirs.id,
      mine.id,
    ]);
    for (const { id } of [theirs, admins]) {
      expectError(await user.get(`${fresh.path}/files/${id}`), 403, 'forbidden');
      expectError(await user.delete(`${fresh.path}/files/${id}`), 403, 'forbidden');
    }
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
    for (const id of ['x', '..%2f..%2fmaster.key', randomUUID(), 'z'.repeat(36), 'x'.repeat(5_000)]) {
      const response = await user.get(`${app.path}/files/${id}`);
      expectError(response, 404, 'not_found');
      expect(response.body.message.length).toBeLessThan(130);
    }
  });

  it('shows pages, and counts what the caller may see', async () => {
    const fresh = await files.own.app();
    const mine: string[] = [];
    for (let count = 0; count < 3; count++) {
      mine.unshift((await upload(user, fresh, 'mine')).id);
      await upload(files.other, fresh, 'theirs');
    }
    const list = async (caller: Caller, query: string) => {
      const { items, total_items } = expectOk(await caller.get(`${fresh.path}/files?per_page=2&${query}`));
      return [items.map(({ id }: { id: string }) => id), total_items];
    };
    expect(await list(user, 'page=1')).toEqual([mine.slice(0, 2), 3]);
    expect(await list(user, 'page=2')).toEqual([mine.slice(2), 3]);
    expect(await list(user, 'skip_total=true')).toEqual([mine.slice(0, 2), -1]);
    expect((await list(fresh.admin, 'page=3'))[1]).toBe(6);
    const [first = ''] = mine;
    const inCapitals = await get(user, `${fresh.path}/files/${first.toUpperCase()}`);
    expect([inCapitals.status, inCapitals.headers.get('etag')]).toEqual([200, `"${first}"`]);
  });

  it('deletes a file once, however many ask at the same moment', async () => {
    let statuses: number[];
    // Where all connections were taken, one stood behind the other, at the same one, until that had waited too long.
    do statuses = await deleteTwice((await upload(user, app, 'x')).id); while (statuses.includes(503));
    expect(statuses.sort()).toEqual([200, 404]);
  });
});

/** Two deletions of a file, which both wait for it; one of them was `503` if they did not. */
async function deleteTwice(id: string): Promise<number[]> {
  const database = await openDatabaseOf(files.own.id);
  const { deletions } = await database.transaction(async (sql) => {
    const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
      select schema from workspace.apps where id = ${app.id}`;
    const table = qualified({ schema, collection: '_files' });
    await sql.unsafe(`set local role ${quoteIdentifier(schema)}`);
    await sql.unsafe(`select 1 from ${table} where id = $1 for update`, [id]);
    let answered = 0;
    const deletions = [1, 2].map(() => user.delete(`${app.path}/files/${id}`).finally(() => answered++));
    while (answered === 0 && await howManyWait(sql) < 2);
    return { deletions };
  }).finally(() => database.end());
  return (await Promise.all(deletions)).map(({ status }) => status);
}

describe('a link', () => {
  it('lets anybody read the one file, until it expires or the file is gone', async () => {
    const { id } = await upload(user, app, 'for a browser');
    const link = expectOk(await user.post(`${app.path}/files/${id}/link`, { expires_in: 60 }));
    expect(Date.parse(link.expires_at) - Date.now()).toBeGreaterThan(55_000);
    const response = await get(as(), link.url);
    expect([response.status, await response.text()]).toEqual([200, 'for a browser']);
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
    for (const expires_in of [0, 604_801]) {
      expectError(await user.post(`${app.path}/files/${id}/link`, { expires_in }), 400, 'validation');
      const missing = `${app.path}/files/${randomUUID()}/link`;
      expectError(await user.post(missing, { expires_in }), 404, 'not_found');
    }
    expectOk(await user.post(`${app.path}/files/${id}/link`, { expires_in: 604_800 }));
  });
});

describe('with its app or workspace', () => {
  it('tenant.delete-complete: the bytes of files go too', async () => {
    const leaving = await ownWorkspace();
    const [first, second] = [await leaving.app(), await leaving.app()];
    const put = async (caller: Caller, path: string) => {
      const response = await fetch(`${serverUrl()}${path}/files`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${caller.token}` },
        body: 'x',
      });
      return String(JSON.parse(await response.text()).id);
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
    await expect.poll(() => existsSync(folder), { timeout: 50_000 }).toBe(false);
  });
});
