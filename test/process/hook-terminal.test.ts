// The loop of an author who has the server in a terminal: what it prints of hooks, by PUT and by disk alike.
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

let dir: string;
let folder: string;
let server: TestServer;
let admin: Caller;
let app: string;
let isChecked: boolean;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bulkhead-author-'));
  // Root's server gives its API, and hooks, users of their own.
  await chmod(dir, 0o755);
  server = await startServer({ config: { log: { format: 'pretty' }, hooks: { dir } } });
  admin = await setUp(server.url);
  app = await makeShop(admin);
  // The first file that is put makes it.
  folder = join(dir, 'acme', 'shop');
  // Elsewhere no types are checked.
  isChecked = expectOk(await admin.get('/readyz')).sandbox === 'os';
  const schema = { id: 'issues', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await admin.post(`${app}/collections`, { schema }));
}, 90_000);

afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

const put = async (name: string, source: string) =>
  expectOk(await admin.put(`${app}/hooks/${name}`, { source })).reload;
/** Saves a file as an editor does. */
const save = (name: string, source: string) => writeFile(join(folder, name), source);
const create = (title: string) => admin.post(`${app}/collections/issues/records`, { title });

const slip = "onRecordBeforeCreate('isues', () => {});\nexport const count: number = 'one';\n";
const broken = "onRecordBeforeCreate('issues', (e) => {\n  if (e {\n";

it.each([['put', 'a'], ['save', 'b']] as const)(
  'shows reloads, load errors, type warnings and hooks that never run of a file that is %s',
  async (how, name) => {
    const write = how === 'put' ? put : save;
    await write(`${name}.ts`, slip);
    await server.line(`hook acme/shop reloaded: ${how === 'put' ? 'a.ts' : 'a.ts, b.ts'}`);
    await server.line(`hook acme/shop ${name}.ts no hook of "isues" runs: the app has no collection`);
    // A busy machine takes too long for it.
    const isSaid = (line: string) =>
      line.includes(`hook acme/shop ${name}.ts:2:14 TS2322:`) || line.includes('the types were not checked');
    if (isChecked) await expect.poll(() => server.output.some(isSaid), { timeout: 30_000 }).toBe(true);
    await write(`broken-${name}.ts`, broken);
    expect(await server.line(`hook acme/shop broken-${name}.ts:2:`)).toMatch(/ error hook .*SyntaxError/);
    await server.line('hook acme/shop reloaded with errors, in effect: ');
    const { errors } = expectOk(await admin.get(`${app}/hooks/status`));
    expect(errors.at(-1)).toMatchObject({ file: `broken-${name}.ts`, line: 2 });
    expectOk(await admin.delete(`${app}/hooks/broken-${name}.ts`));
  },
  60_000,
);

it('shows what hooks write to the console, in lines that cannot pass for others', async () => {
  const text = "'hello', { a: 1 }, '\\u001b[31m\\n2026-01-01T00:00:00.000Z error forged'";
  await put('talk.ts', `onRecordBeforeCreate('issues', () => console.warn(${text}));`);
  const written = await admin.post(`${app}/collections/issues/records`, { title: 'x' }, {
    'X-Request-Id': 'talk',
  });
  expectOk(written);
  const line = await server.line(' warn  hook acme/shop talk.ts hello');
  expect(line).toContain('\\u001b[31m');
  expect(await server.line('error forged')).toMatch(/^ {4}2026.* request_id=talk$/);
  expectOk(await admin.delete(`${app}/hooks/talk.ts`));
});

it('shows what stands behind a 500 hook_error', async () => {
  await put('fail.ts', "routerAdd('GET', '/boom', () => {\n  throw new Error('no such luck');\n});");
  expect((await as(undefined, server.url).get(`${app}/custom/boom`)).status).toBe(500);
  await server.line('error hook acme/shop fail.ts:2:9 Error: no such luck request_id=');
});

it('names the file, or the files, of a hook that did not finish in time', async () => {
  expectOk(await admin.put(`${app}/policies/hooks.timeout_ms`, { kind: 'range', min: 300, max: 500 }));
  await put('hang.ts', "onRecordBeforeCreate('issues', () => new Promise(() => {}));");
  expect((await create('x')).body.code).toBe('hook_error');
  await server.line('hook acme/shop hang.ts before_create of issues: the hook did not finish in time');
  await put('also.ts', "onRecordBeforeCreate('issues', () => {});");
  expect((await create('x')).body.code).toBe('hook_error');
  await server.line('of issues: the hook did not finish in time, in one of also.ts, hang.ts');
  for (const name of ['hang.ts', 'also.ts']) expectOk(await admin.delete(`${app}/hooks/${name}`));
});

it('names a symbolic link, which is not followed', async () => {
  await symlink('/etc/hostname', join(folder, 'link.ts'));
  await server.line('hook acme/shop link.ts is a symbolic link, which is not followed');
});
