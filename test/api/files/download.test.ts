// Downloads: in full, in part, and so that no browser runs them.
import { describe, expect, it } from 'vitest';
import { expectOk, serverUrl } from '../../harness/api.ts';
import { fileApp, get, upload } from '../../harness/file-app.ts';

const files = await fileApp();
const { app, user } = files;

describe('a download', () => {
  it('gives ranges, says what it cannot give, and sends nothing that the client has', async () => {
    const { id } = await upload(user, app, '0123456789');
    const path = `${app.path}/files/${id}`;
    const cases: [string, number, string, string | null][] = [
      ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-2', 206, '89', 'bytes 8-9/10'],
      ['bytes=5-900', 206, '56789', 'bytes 5-9/10'],
      ['bytes=-900', 206, '0123456789', 'bytes 0-9/10'],
      ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
      ['bytes=0-1,4-5', 200, '0123456789', null],
      ['bytes=3-1', 200, '0123456789', null],
      ['bytes=-', 200, '0123456789', null],
      ['lines=1-2', 200, '0123456789', null],
      [`bytes=${Array.from({ length: 500 }, (_, i) => `${i}-${i}`).join(',')}`, 200, '0123456789', null],
    ];
    for (const [range, status, body, contentRange] of cases) {
      const response = await get(user, path, { Range: range });
      expect([range, response.status, await response.text(), response.headers.get('content-range')]).toEqual([
        range,
        status,
        body,
        contentRange,
      ]);
    }
    for (const range of ['bytes=10-', 'bytes=99-100', 'bytes=-0']) {
      const response = await get(user, path, { Range: range });
      expect([range, response.status, response.headers.get('content-range')]).toEqual([
        range,
        416,
        'bytes */10',
      ]);
    }
    for (const tag of [`"${id}"`, `W/"${id}"`, `"x", "${id}"`, '*']) {
      const response = await get(user, path, { 'If-None-Match': tag });
      expect([tag, response.status, await response.text()]).toEqual([tag, 304, '']);
      // What a cache is to know of the response that it has (RFC 9110 section 15.4.5).
      const names = ['etag', 'cache-control', 'content-security-policy'];
      expect(names.map((name) => response.headers.get(name))).toEqual([
        `"${id}"`,
        'private, no-cache',
        "sandbox; default-src 'none'",
      ]);
    }
    expect((await get(user, path, { 'If-None-Match': '"x"' })).status).toBe(200);
    expect((await get(user, path, { 'Range': 'bytes=0-1', 'If-Range': `"${id}"` })).status).toBe(206);
    expect((await get(user, path, { 'Range': 'bytes=0-1', 'If-Range': '"x"' })).status).toBe(200);
  });

  it('is kept by no cache that others share, and by none unasked', async () => {
    const { id } = await upload(user, app, '0123456789');
    const { url } = expectOk(await user.post(`${app.path}/files/${id}/link`));
    for (
      const [path, headers] of [[`${app.path}/files/${id}`, {}], [url, {}], [url, { Range: 'bytes=0-1' }]]
    ) {
      expect((await get(user, path, headers)).headers.get('cache-control')).toBe('private, no-cache');
    }
  });

  it('answers HEAD with the head alone', async () => {
    const { id } = await upload(user, app, '0123456789');
    const response = await fetch(`${serverUrl()}${app.path}/files/${id}`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${user.token}` },
    });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      200,
      '10',
      '',
    ]);
  });

  it('file.xss: comes disarmed where a browser would run it', async () => {
    const active = [
      'text/html',
      'TEXT/HTML; charset=utf-8',
      'image/svg+xml',
      'application/xhtml+xml',
      'text/xml',
      'application/atom+xml',
      'text/javascript',
      'application/x-javascript',
      'application/ecmascript',
    ];
    for (const type of [...active, 'image/png', 'text/plain', 'x/unknown']) {
      const { id } = await upload(user, app, '<script>alert(1)</script>', { type, name: 'x".html' });
      const { headers } = await get(user, `${app.path}/files/${id}`);
      const kind = active.includes(type) ? 'attachment' : 'inline';
      expect([type, headers.get('content-disposition')]).toEqual([
        type,
        `${kind}; filename="x_.html"; filename*=UTF-8''x%22.html`,
      ]);
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-type')).toBe(type);
    }
  });
});
