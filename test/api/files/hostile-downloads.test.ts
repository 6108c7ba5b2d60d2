// Downloads asked for by somebody who tries everything that headers allow.
import { beforeAll, describe, expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { authorization, fileApp, get, upload } from '../../harness/file-app.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const files = await fileApp();
const { app, user } = files;
const text = '0123456789';
let id: string;
let path: string;
beforeAll(async () => {
  ({ id } = await upload(user, app, text));
  path = `${app.path}/files/${id}`;
});

const nines = '9'.repeat(400);

describe('a range', () => {
  it('that is garbage gives the whole or nothing, and never other bytes', async () => {
    const whole = [
      'bytes',
      'bytes=',
      'bytes=,',
      'bytes=a-b',
      'bytes=0x1-0x2',
      'bytes=-0-1',
      'bytes=--1',
      'bytes=+1-2',
      'bytes=1.0-2',
      'bytes=0 - 3',
      'bytes=1e0-2',
      'bytes=0-1;q=1',
      'bytes=٠-٣',
      'octets=0-1',
      'bytes=0-0,0-0,0-0',
      'bytes=0-1, bytes=2-3',
      `bytes=${nines}-0`,
      `bytes=${Array(3_000).fill('0-').join(',')}`,
    ];
    for (const range of whole) {
      const response = await get(user, path, { Range: Buffer.from(range).toString('latin1') });
      expect([range, response.status, await response.text()]).toEqual([range, 200, text]);
      expect(response.headers.get('content-range')).toBeNull();
    }
    const some: [string, string][] = [
      [`bytes=4-${nines}`, '456789'],
      [`bytes=-${nines}`, text],
      ['BYTES=1-2', '12'],
      ['bytes=00000000000000000001-02', '12'],
    ];
    for (const [range, part] of some) {
      const response = await get(user, path, { Range: range });
      expect([range, response.status, await response.text()]).toEqual([range, 206, part]);
      expect(response.headers.get('content-length')).toBe(String(part.length));
    }
    for (
      const range of [`bytes=${nines}-`, `bytes=${nines}-${nines}`, 'bytes=9007199254740993-', 'bytes=-00']
    ) {
      const response = await get(user, path, { Range: range });
      expect([range, response.status, response.headers.get('content-range')]).toEqual([
        range,
        416,
        'bytes */10',
      ]);
    }
  });

  it('is for GET alone: HEAD says what the whole would be (RFC 9110 section 14.2)', async () => {
    for (const range of ['bytes=0-3', 'bytes=99-']) {
      const response = await fetch(serverUrl() + path, {
        method: 'HEAD',
        headers: { ...authorization(user), Range: range },
      });
      expect([range, response.status, response.headers.get('content-length')]).toEqual([range, 200, '10']);
      expect(response.headers.get('content-range')).toBeNull();
    }
  });

  it('of an empty file is none, and harms nobody', async () => {
    const empty = await upload(user, app, '');
    for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=-0']) {
      const response = await get(user, `${app.path}/files/${empty.id}`, { Range: range });
      expect([range, response.status, response.headers.get('content-range')]).toEqual([
        range,
        416,
        'bytes */0',
      ]);
    }
  });
});

describe('a condition', () => {
  it('counts before the range, and a tag is the whole of it', async () => {
    const tag = `"${id}"`;
    const cases: [Record<string, string>, number, string][] = [
      [{ 'If-None-Match': `"a", W/"b" ,${tag}` }, 304, ''],
      [{ 'If-None-Match': tag, 'Range': 'bytes=0-1' }, 304, ''],
      [{ 'If-None-Match': '*', 'Range': 'bytes=99-' }, 304, ''],
      [{ 'If-None-Match': id }, 200, text],
      [{ 'If-None-Match': `"${id.toUpperCase()}"` }, 200, text],
      [{ 'If-None-Match': `"${id}` }, 200, text],
      [{ 'If-None-Match': `"x${id}"`, 'Range': 'bytes=0-1' }, 206, '01'],
      [{ 'If-None-Match': `${','.repeat(7_000)}` }, 200, text],
      [{ 'If-Range': tag, 'Range': 'bytes=0-1' }, 206, '01'],
      // Strong comparison: a weak tag says nothing of bytes.
      [{ 'If-Range': `W/${tag}`, 'Range': 'bytes=0-1' }, 200, text],
      [{ 'If-Range': `${tag}, "x"`, 'Range': 'bytes=0-1' }, 200, text],
      [{ 'If-Range': new Date().toUTCString(), 'Range': 'bytes=0-1' }, 200, text],
      [{ 'If-Range': '"x"', 'Range': 'bytes=99-' }, 200, text],
      [{ 'If-Range': '', 'Range': 'bytes=0-1' }, 200, text],
    ];
    for (const [headers, status, body] of cases) {
      const response = await get(user, path, headers);
      expect([headers, response.status, await response.text()]).toEqual([headers, status, body]);
    }
  });
});

describe('several answers on one connection', () => {
  it('begin where the one before ends, whatever each was', async () => {
    const { hostname, host } = new URL(serverUrl());
    const head = (method: string, more: string) =>
      `${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${user.token}\r\n${more}\r\n`;
    const { text: all } = await sendRaw(
      `http://${host}`,
      head('GET', 'Range: bytes=2-4\r\n') + head('HEAD', 'Range: bytes=2-4\r\n') +
        head('GET', 'If-None-Match: *\r\n') + head('GET', 'Range: bytes=99-\r\n') +
        head('GET', 'Connection: close\r\n'),
    );
    const responses = all.split(/(?=HTTP\/1\.1 )/);
    expect(responses.map((one) => [one.slice(9, 12), one.slice(one.indexOf('\r\n\r\n') + 4)])).toEqual([
      ['206', '234'],
      ['200', ''],
      ['304', ''],
      ['416', expect.stringContaining('range_not_satisfiable')],
      ['200', text],
    ]);
  });
});

describe('what a browser would run', () => {
  it('file.xss: is only ever offered for saving, however its type is written', async () => {
    const active = [
      'text/html;charset=utf-7',
      'text/html ;x=y',
      'tExT/hTmL;,text/plain',
      'image/svg+xml;charset=utf-8',
      'IMAGE/SVG+XML',
      'image/svg',
      'application/xhtml',
      'application/xml',
      'application/xml-dtd',
      'text/xsl',
      'application/mathml+xml',
      'application/rdf+xml',
      'application/xslt+xml',
      'application/vnd.wap.xhtml+xml',
      'text/xml-external-parsed-entity',
      'application/xml-external-parsed-entity',
      'text/x-javascript',
      'text/javascript1.5',
      'multipart/related; boundary=x',
      'multipart/x-mixed-replace; boundary=x',
      'message/rfc822',
      'application/x-mimearchive',
      'application/pdf',
      'application/pdf; version=1.7',
      'text/pdf',
      'application/x-pdf',
      'application/javascript',
      'text/ecmascript',
      'text/jscript',
      'text/livescript',
      'text/vbscript',
      'text/x-component',
      'application/hta',
      'application/java-archive',
      'application/x-java-applet',
      'application/x-shockwave-flash',
      'text/cache-manifest',
    ];
    for (const type of active) {
      const file = await upload(user, app, '<script>alert(1)</script>', { type });
      const { headers } = await get(user, `${app.path}/files/${file.id}`);
      expect([type, headers.get('content-disposition')]).toEqual([
        type,
        `attachment; filename="file"; filename*=UTF-8''file`,
      ]);
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});
