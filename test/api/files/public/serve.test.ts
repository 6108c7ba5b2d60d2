// Static files of an app at its own origin, from the folder `public/` beside its hook files.
import { chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { type HostedRequest, sendAtHost } from '../../../harness/at-host.ts';
import { expectError } from '../../../harness/expectations.ts';
import { sendRaw } from '../../../harness/raw-requests.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { makeShop, setUp } from '../../../harness/set-up.ts';

const shop = 'shop--acme.apps.example.com';
const path = '/api/workspaces/acme/apps/shop';
const page = '<!doctype html><title>Shop</title>';
const files: Readonly<Record<string, string>> = {
  'index.html': page,
  'assets/app-B8f3Kq2x.js': 'export default 1;',
  'assets/data.json': '{"a":1}',
  'docs/index.html': '<title>Docs</title>',
  'ein Blatt.txt': 'Blätter',
  'empty.txt': '',
  'shadowed': 'of the folder',
  '.env': 'SECRET=1',
  '.git/config': 'secret',
};

let server: TestServer;
let master: Caller;
let folder = '';

beforeAll(async () => {
  server = await startServer({ config: { http: { app_domain: 'apps.example.com' } } });
  master = await setUp(server.url);
  await makeShop(master);
  const source = `routerAdd('GET', '/shadowed', () => 'of the hook');`;
  expectOk(await master.put(`${path}/hooks/site.ts`, { source }));
  folder = join(server.dataDir, 'hooks/acme/shop/public');
  for (const [name, text] of Object.entries(files)) await write(join(folder, name), text);
  await writeFile(join(folder, '../beside.txt'), 'secret');
});
afterAll(() => server.stop());

/** Writes a file as the user that the server runs as: its deletion needs the right to. */
async function write(path: string, text: string): Promise<void> {
  const { uid, gid } = await stat(join(server.dataDir, 'hooks'));
  const first = await mkdir(dirname(path), { recursive: true });
  if (first !== undefined) {
    for (let made = dirname(path); made.length >= first.length; made = dirname(made)) {
      await chown(made, uid, gid);
    }
  }
  await writeFile(path, text);
}

const get = (where: string, headers: Record<string, string> = {}, request: HostedRequest = {}) =>
  sendAtHost(server.url, shop, where, { ...request, headers });

describe('a static file', () => {
  it.each([
    ['/', page, 'text/html; charset=utf-8'],
    ['/index.html', page, 'text/html; charset=utf-8'],
    ['/docs/', '<title>Docs</title>', 'text/html; charset=utf-8'],
    ['/assets/app-B8f3Kq2x.js', 'export default 1;', 'text/javascript; charset=utf-8'],
    ['/assets/data.json?x=/..', '{"a":1}', 'application/json'],
    ['/ein%20Blatt.txt', 'Blätter', 'text/plain; charset=utf-8'],
    ['/empty.txt', '', 'text/plain; charset=utf-8'],
  ])('is served at %s to anyone', async (where, text, type) => {
    const response = await get(where);
    expect([response.status, response.text, response.headers.get('content-type')]).toEqual([200, text, type]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("frame-ancestors 'self'");
  });

  it('is asked for again by caches, unless its name has a hash of its content', async () => {
    const { headers } = await get('/');
    expect(headers.get('cache-control')).toBe('public, no-cache');
    const etag = headers.get('etag') ?? '';
    const again = await get('/', { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    const hashed = await get('/assets/app-B8f3Kq2x.js');
    expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    await writeFile(join(folder, 'changing.txt'), 'one');
    const old = (await get('/changing.txt')).headers.get('etag') ?? '';
    await writeFile(join(folder, 'changing.txt'), 'other');
    expect((await get('/changing.txt', { 'If-None-Match': old })).text).toBe('other');
  });

  it('comes in parts, and as a head alone', async () => {
    const part = await get('/index.html', { Range: 'bytes=2-8' });
    expect([part.status, part.text, part.headers.get('content-range')])
      .toEqual([206, page.slice(2, 9), `bytes 2-8/${page.length}`]);
    expectError(await get('/index.html', { Range: 'bytes=999-' }), 416, 'range_not_satisfiable');
    const head = await get('/index.html', {}, { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', `${page.length}`]);
  });

  it('is behind custom routes', async () => {
    expect((await get('/shadowed')).text).toBe('"of the hook"');
  });

  it('is of a page at the top where a browser asks for a page that does not exist', async () => {
    const browser = { Accept: 'text/html,*/*;q=0.8' };
    expect((await get('/issues/7', browser)).text).toBe(page);
    expectError(await get('/issues/7', { Accept: '*/*' }), 404, 'not_found');
    expectError(await get('/assets/gone.js', browser), 404, 'not_found');
  });

  it('of a folder is at the path with a slash', async () => {
    const response = await get('/docs?a=1');
    expect([response.status, response.headers.get('location')]).toEqual([308, '/docs/?a=1']);
    expectError(await get('/assets'), 404, 'not_found');
  });

  it('is none of the server itself, and nothing is written', async () => {
    expectError(
      await sendAtHost(server.url, 'api.example.com', `${path}/custom/index.html`, {}),
      404,
      'not_found',
    );
    expectError(await get('/index.html', {}, { method: 'POST', body: {} }), 404, 'not_found');
    expectError(await sendAtHost(server.url, 'gone--acme.apps.example.com', '/', {}), 404, 'app_not_found');
  });

  it('is deleted with its app', async () => {
    const app = '/api/workspaces/acme/apps/brief';
    const host = 'brief--acme.apps.example.com';
    const make = async () =>
      expectOk(await master.post('/api/workspaces/acme/apps', { id: 'brief', name: 'Brief' }));
    await make();
    const pages = join(server.dataDir, 'hooks/acme/brief/public');
    await write(join(pages, 'index.html'), page);
    expect((await sendAtHost(server.url, host, '/', {})).text).toBe(page);
    expectOk(await master.delete(app));
    await make();
    expectError(await sendAtHost(server.url, host, '/', {}), 404, 'not_found');
  });
});

describe('nothing outside of the folder is served', () => {
  it.each([
    '/../beside.txt',
    '/..%2fbeside.txt',
    '/%2e%2e/beside.txt',
    '/docs/../../beside.txt',
    '/..\\beside.txt',
    '/..%5cbeside.txt',
    '//etc/passwd',
    '/%2fetc/passwd',
    '/.env',
    '/%2eenv',
    '/.git/config',
    '/./index.html',
    '/index.html/',
    '/index.html/x',
    '/%00',
    '/index.html%00.txt',
    '/%ff',
    '/%',
    `/${'a'.repeat(300)}`,
    `/${'a/'.repeat(100)}`,
  ])('for %s', async (where) => {
    const response = await sendRaw(
      server.url,
      `GET ${where} HTTP/1.1\r\nHost: ${shop}\r\nConnection: close\r\n\r\n`,
    );
    expect([400, 404]).toContain(response.status);
    expect(response.text).not.toMatch(/secret|root:/i);
  });

  it.each([
    ['a file', '../beside.txt', ''],
    ['a folder', '..', '/beside.txt'],
    ['a file of the machine', '/etc/passwd', ''],
    ['a file of the folder itself', 'index.html', ''],
  ])('by a link to %s', async (_what, target, below) => {
    const name = `link${target.replaceAll(/\W/g, '-')}`;
    await symlink(target, join(folder, name));
    expectError(await get(`/${name}${below}`), 404, 'not_found');
  });

  it('where a pipe stands in the place of a file, nothing waits', async () => {
    await execa('mkfifo', [join(folder, 'pipe')]);
    expectError(await get('/pipe'), 404, 'not_found');
  });
});
