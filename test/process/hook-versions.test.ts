// Hook files that are changed to what does not load, with two API processes, and over restarts: the version that loaded last
// guards, in each process and from its first request on.
import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ApiResponse, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { askEither } from '../harness/two-processes.ts';
import { unlimited } from '../harness/storefront.ts';

const password = 'a password of the test';
const app = '/api/workspaces/acme/apps/shop';
const records = `${app}/collections/notes/records`;
let home: string;
let server: TestServer;
let token: string | undefined;

const ask = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  askEither(server.url + path, method, { body, token });
/** In so many that each process has some of them. */
const many = async (method: string, path: string, body?: unknown) =>
  await Promise.all(Array.from({ length: 20 }, () => ask(method, path, body)));
const statuses = (responses: readonly ApiResponse[]) => new Set(responses.map(({ status }) => status));

const start = async () => {
  server = await startServer({
    config: { ...unlimited, api: { workers: 2 }, hooks: { timeout_ms: 1_000, type_check: false } },
    dataDir: join(home, 'data'),
  });
};
const restart = async (meanwhile: () => Promise<void> = () => Promise.resolve()) => {
  await server.stop();
  await meanwhile();
  await start();
};
const onDisk = (name: string) => join(home, 'data', 'hooks', 'acme', 'shop', name);
const files = async () => expectOk(await ask('GET', `${app}/hooks/status`)).files;

const guard = (name: string) =>
  `onRecordBeforeCreate('notes', (e) => { if (e.record.fields.title === '${name}') throw new Error('no ${name}'); });
  routerAdd('GET', '/${name}', () => '${name}');`;
/** A write that the guard of a name refuses, asked of both processes: what they all say. */
const said = async (name: string) =>
  new Set((await many('POST', records, { title: name })).map(({ body }) => body.message));

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-versions-'));
  await start();
  expectOk(await ask('POST', '/_/setup', { password }));
  // The other process learns of it a moment later.
  await vi.waitUntil(
    async () => (await many('GET', '/_/auth/jwks.json')).every(({ status }) => status === 200),
    {
      timeout: 20_000,
      interval: 20,
    },
  );
  token = expectOk(await ask('POST', '/_/auth/admin/login', { username: 'admin', password })).access_token;
  expectOk(await ask('POST', '/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await ask('POST', '/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
  const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await ask('POST', `${app}/collections`, { schema }));
  for (const name of ['put', 'hung', 'disk', 'deleted', 'gone']) {
    expectOk(await ask('PUT', `${app}/hooks/${name}.js`, { source: guard(name) }));
  }
});
afterAll(async () => {
  await server.stop();
  await rm(home, { recursive: true });
});

it(
  'guard in both processes, before and after a restart, however the files were broken',
  { timeout: 120_000 },
  async () => {
    for (
      const [name, source] of [['put', 'const = 1;'], ['hung', 'for (;;);'], [
        'deleted',
        'const = 1;',
      ]] as const
    ) {
      const { reload } = expectOk(await ask('PUT', `${app}/hooks/${name}.js`, { source }));
      expect(reload.errors).toContainEqual(expect.objectContaining({ file: `${name}.js` }));
    }
    expectOk(await ask('DELETE', `${app}/hooks/deleted.js`));
    const guarding = ['put', 'hung', 'disk'];
    for (const name of ['put', 'hung']) expect(await said(name)).toEqual(new Set([`no ${name}`]));

    await restart(async () => {
      await writeFile(onDisk('disk.js'), 'throw new Error("broken while the server was down");');
      await writeFile(onDisk('deleted.js'), 'const = 1;');
      await unlink(onDisk('gone.js'));
    });
    for (const name of guarding) {
      expect(await said(name)).toEqual(new Set([`no ${name}`]));
      expect(statuses(await many('GET', `${app}/custom/${name}`))).toEqual(new Set([200]));
    }
    for (const name of ['deleted', 'gone']) {
      expect(statuses(await many('POST', records, { title: name }))).toEqual(new Set([201]));
      expect(statuses(await many('GET', `${app}/custom/${name}`))).toEqual(new Set([404]));
    }
    expect(await files()).toEqual([
      expect.objectContaining({ filename: 'deleted.js', running_since: null, is_current: false }),
      ...['disk', 'hung', 'put'].map((name) =>
        expect.objectContaining({
          filename: `${name}.js`,
          running_since: expect.any(String),
          is_current: false,
        })
      ),
    ]);

    expectOk(await ask('PUT', `${app}/hooks/put.js`, { source: guard('repaired') }));
    await expect.poll(() => said('repaired'), { timeout: 10_000 }).toEqual(new Set(['no repaired']));
    expect(statuses(await many('POST', records, { title: 'put' }))).toEqual(new Set([201]));
  },
);
