// Links to files in the hands of somebody who wants more than the one file that they are for.
import { describe, expect, it } from 'vitest';
import { as, expectOk, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { fileApp, get, upload } from '../../harness/file-app.ts';

const files = await fileApp();
const { app, user } = files;

async function linkTo(id: string, expiresIn = 60): Promise<string> {
  return String(expectOk(await user.post(`${app.path}/files/${id}/link`, { expires_in: expiresIn })).url);
}

describe('a link', () => {
  it('file.authz: is good for nothing when any character of it is another one', async () => {
    const { id } = await upload(user, app, 'x');
    const link = await linkTo(id);
    const begin = link.indexOf('/files/');
    const others = 'AZaz09-_';
    for (let at = begin; at < link.length; at++) {
      for (const other of [...others, ...neighbours(link[at] ?? '')]) {
        if (other === link[at]) continue;
        const altered = link.slice(0, at) + other + link.slice(at + 1);
        // A UUID is the same in upper case.
        if (altered.toLowerCase() === link.toLowerCase() && at < link.indexOf('?')) continue;
        const { status } = await get(as(), altered);
        expect([altered, status >= 400 && status < 500]).toEqual([altered, true]);
      }
    }
    expect((await get(as(), link)).status).toBe(200);
  }, 60_000);

  it('file.authz: is good in one spelling alone', async () => {
    const { id } = await upload(user, app, 'x');
    const link = await linkTo(id);
    const [expires = '', signature = ''] = link.slice(link.indexOf('=') + 1).split('&signature=');
    const withPair = (one: string, other: string) => link.replace(expires, one).replace(signature, other);
    for (
      const altered of [
        withPair(expires, `${signature}=`),
        withPair(expires, `${signature}!`),
        withPair(expires, `%20${signature}`),
        withPair(expires, signature.replaceAll('-', '%2B').replaceAll('_', '%2F') + '%3D'),
        withPair(expires, ''),
        withPair(expires, 'A'.repeat(43)),
        withPair(expires, signature.slice(0, -1)),
        withPair(`${expires}.5`, signature),
        withPair(`-${expires}`, signature),
        withPair(`${expires}0`, signature),
        withPair('9007199254740993', signature),
        withPair('Infinity', signature),
        link.replace('?', `?expires=${Number(expires) + 1}&`),
        link.replace('?', '?signature=x&'),
      ]
    ) {
      const { status } = await get(as(), altered);
      expect([altered, status >= 400 && status < 500]).toEqual([altered, true]);
    }
  });

  it('file.authz: is good for no other file, app or workspace, and for neither metadata nor deletion', async () => {
    const { id } = await upload(user, app, 'mine');
    const other = await upload(user, app, 'another');
    const elsewhere = await fileApp();
    const theirs = await upload(elsewhere.user, elsewhere.app, 'theirs');
    const sibling = await files.own.app();
    const link = await linkTo(id);
    const [, query = ''] = link.split('?');
    const to = (path: string) => `${path}/shared?${query}`;
    for (
      const path of [
        to(`${app.path}/files/${other.id}`),
        to(`${sibling.path}/files/${id}`),
        to(`${elsewhere.app.path}/files/${theirs.id}`),
        to(`${elsewhere.app.path}/files/${id}`),
      ]
    ) expectError(await as().get(path), 403, 'forbidden');
    for (const path of [`${app.path}/files/${id}?${query}`, `${app.path}/files/${id}/meta?${query}`]) {
      expectError(await as().get(path), 401, 'unauthorized');
    }
    expectError(await as().delete(link), 405, 'method_not_allowed');
    expect((await get(as(), link)).status).toBe(200);
  });

  it('gives the head alone to HEAD, and parts to whoever asks for parts', async () => {
    const { id } = await upload(user, app, '0123456789');
    const link = await linkTo(id);
    const head = await fetch(serverUrl() + link, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
    const part = await get(as(), link, { Range: 'bytes=3-5' });
    expect([part.status, await part.text()]).toEqual([206, '345']);
    expectError(await as().get(link, { Range: 'bytes=10-' }), 416, 'range_not_satisfiable');
    const disarmed = await get(as(), link);
    expect(disarmed.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(disarmed.headers.get('cache-control')).toContain('private');
  });

  it('file.authz: ends with its time, and with its app also for a later one of the same name', async () => {
    const { id } = await upload(user, app, 'x');
    const short = await linkTo(id, 1);
    await expect.poll(async () => (await get(as(), short)).status, { timeout: 5_000 }).toBe(403);
    const leaving = await files.own.app('leaving');
    const kept = await upload(leaving.admin, leaving, 'x');
    const { url } = expectOk(await leaving.admin.post(`${leaving.path}/files/${kept.id}/link`));
    expectOk(await files.own.admin.delete(leaving.path));
    expectError(await as().get(url), 404, 'app_not_found');
    await files.own.app('leaving');
    expectError(await as().get(url), 403, 'forbidden');
  });
});

/** Characters that differ from one by little, as those do whose last bits base64 does not use. */
function neighbours(character: string): string[] {
  const code = character.charCodeAt(0);
  return [code - 2, code - 1, code + 1, code + 2, code + 3].map((near) => String.fromCharCode(near))
    .filter((near) => /[A-Za-z0-9_-]/.test(near));
}
