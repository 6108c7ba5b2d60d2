// The user that the API runs as when root starts the server, and all that it must be able to read and write.
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { isApi, processTree } from '../harness/processes.ts';
import { type ServerOptions, startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { giveTo } from '../../supervisor/ownership.ts';

const isRoot = process.getuid?.() === 0;
const app = '/api/workspaces/acme/apps/shop';
const stranger = { uid: 65_534, gid: 65_534 };

let home = '';
let dataDir = '';
let server: TestServer | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-api-user-'));
  await chmod(home, 0o711);
  dataDir = join(home, 'data');
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await rm(home, { recursive: true });
});

async function start(options: ServerOptions = {}): Promise<TestServer> {
  server = await startServer({ dataDir, isFirstStart: true, ...options });
  return server;
}

async function stop(): Promise<void> {
  await server?.stop();
  server = undefined;
}

/** The kernel's word on the processes whose command is like this: the user, and the capabilities in effect. */
async function statusOf(pid: number, isMeant: (command: string) => boolean) {
  const rows = (await processTree(pid)).filter(({ command }) => isMeant(command));
  // PostgreSQL ends workers of its own at any time.
  const read = rows.map((row) => readFile(`/proc/${row.pid}/status`, 'utf8'));
  const texts = (await Promise.allSettled(read)).flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : []
  );
  return texts.map((text) => ({
    uid: Number(/^Uid:\s+(\d+)/m.exec(text)?.[1]),
    groups: /^Groups:[ \t]*(.*?)[ \t]*$/m.exec(text)?.[1],
    capabilities: /^CapEff:\s+0*([0-9a-f]*)$/m.exec(text)?.[1],
  }));
}
const apiOf = async ({ pid }: TestServer) =>
  (await statusOf(pid, (command) => isApi({ pid: 0, parent: 0, group: 0, command })))[0];

const route = (text: string) => `routerAdd('GET', '/hi', () => '${text}');`;
const hi = async (master: Caller) => (await master.get(`${app}/custom/hi`)).body;

/** Uses all that the API reads and writes in the data directory. */
async function useAll({ url }: TestServer, master: Caller, text: string): Promise<string> {
  const headers = { Authorization: `Bearer ${master.token}` };
  const upload = await fetch(`${url}${app}/files`, { method: 'POST', headers, body: text });
  const { id } = JSON.parse(await upload.text());
  expect(upload.status).toBe(201);
  expect(await (await fetch(`${url}${app}/files/${id}`, { headers })).text()).toBe(text);
  expectOk(await master.put(`${app}/hooks/hi.js`, { source: route(text) }));
  expect(await hi(master)).toBe(text);
  const mails = async () =>
    (await readdir(join(dataDir, 'outbox'))).filter((name) => name.endsWith('.eml')).length;
  const before = await mails();
  const address = { email: `${text}@example.com` };
  expectOk(await master.post('/api/workspaces/acme/auth/otp/request', address));
  await expect.poll(mails).toBe(before + 1);
  return id;
}

async function owners(folder: string): Promise<Set<number>> {
  const names = await readdir(folder, { recursive: true });
  const found = await Promise.all(['', ...names].map((name) => lstat(join(folder, name))));
  return new Set(found.map(({ uid }) => uid));
}

async function chownAll(folder: string, uid: number): Promise<void> {
  for (const name of ['', ...await readdir(folder, { recursive: true })]) {
    await chown(join(folder, name), uid, uid);
  }
}

describe.runIf(isRoot)('api.user: a server that root starts', () => {
  it('has an API that is not root, nor PostgreSQL, nor a hook, and has no capability', async () => {
    const running = await start();
    const master = await setUp(running.url);
    await makeShop(master);
    await useAll(running, master, 'first');
    const api = await apiOf(running);
    const others = await statusOf(
      running.pid,
      (command) => /^postgres|\/postgres |\/deno run /.test(command),
    );
    expect(api).toMatchObject({ capabilities: '', groups: '' });
    expect(others.length).toBeGreaterThan(2);
    expect([0, ...others.map(({ uid }) => uid)]).not.toContain(api?.uid);
    for (const folder of ['blobs', 'outbox', 'hooks']) {
      expect(await owners(join(dataDir, folder))).toEqual(new Set([api?.uid]));
    }
    expect((await lstat(join(dataDir, 'master.key'))).uid).toBe(0);
    // What walks through the directory, as bundlers and backups do, stays in it.
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
    expect(await readFile(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n');
    // The API itself wrote these.
    expect(running.output.some((line) => line.includes('"request_done"'))).toBe(true);
    expect(running.output.filter((line) => /"(warn|error)"/.test(line))).toEqual([]);
  });

  it('takes over the data of an older version, whose API was root, and of another directory', async () => {
    const first = await start();
    const master = await setUp(first.url);
    await makeShop(master);
    const id = await useAll(first, master, 'before');
    await stop();
    for (const folder of ['blobs', 'outbox', 'hooks']) await chownAll(join(dataDir, folder), 0);
    const second = await start();
    const again = as(master.token, second.url);
    expect((await again.get(`${app}/files/${id}`)).text).toBe('before');
    expect(await hi(again)).toBe('before');
    await useAll(second, again, 'after');
    await stop();
    const moved = join(home, 'moved');
    await rename(dataDir, moved);
    dataDir = moved;
    const third = await start();
    await useAll(third, as(master.token, third.url), 'elsewhere');
  });

  it('lets it read and replace hook files that root puts there while it runs, whatever their mode', async () => {
    const running = await start();
    const master = await setUp(running.url);
    await makeShop(master);
    const folder = join(dataDir, 'hooks/acme/shop');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'hi.js'), route('of root'), { mode: 0o600 });
    await expect.poll(() => hi(master)).toBe('of root');
    expectOk(await master.put(`${app}/hooks/hi.js`, { source: route('of the API') }));
    expect(await hi(master)).toBe('of the API');
  });

  it('has an API of the user whose directory it is, if that is not root', async () => {
    await mkdir(dataDir);
    await chown(dataDir, stranger.uid, stranger.gid);
    const running = await start();
    expect(await apiOf(running)).toMatchObject({ uid: stranger.uid, capabilities: '' });
    const master = await setUp(running.url);
    await makeShop(master);
    await useAll(running, master, 'theirs');
    expect(await owners(join(dataDir, 'blobs'))).toEqual(new Set([stranger.uid]));
  });

  it("listens on a port of root's, by that right alone", async () => {
    const running = await start({ config: { http: { port: 997 } } });
    // CAP_NET_BIND_SERVICE is the tenth.
    expect((await apiOf(running))?.capabilities).toBe('400');
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
  });
});

describe.runIf(isRoot)('what is given to the user of the API', () => {
  it("is what root owns: not what a link points to, nor what has another name elsewhere, nor what is a person's", async () => {
    const hooks = join(home, 'hooks');
    const outside = join(home, 'outside');
    for (const folder of [hooks, outside]) await mkdir(folder);
    for (const name of ['secret', 'linked']) await writeFile(join(outside, name), name);
    await mkdir(join(hooks, 'acme'));
    await symlink(outside, join(hooks, 'acme/folder'));
    await symlink(join(outside, 'secret'), join(hooks, 'acme/file'));
    await link(join(outside, 'linked'), join(hooks, 'acme/hard'));
    await writeFile(join(hooks, 'acme/plain'), 'a hook');
    await writeFile(join(hooks, 'acme/theirs'), 'of a person');
    await chown(join(hooks, 'acme/theirs'), 1234, 1234);
    await giveTo(stranger, hooks);
    await giveTo(stranger, hooks, ['acme', 'folder', 'secret']);
    await giveTo(stranger, hooks, ['acme', 'missing']);
    const owner = async (path: string) => (await lstat(join(home, path))).uid;
    expect(await owner('hooks/acme/plain')).toBe(stranger.uid);
    expect(await owner('hooks/acme')).toBe(stranger.uid);
    for (
      const path of ['outside', 'outside/secret', 'outside/linked', 'hooks/acme/folder', 'hooks/acme/file']
    ) {
      expect(await owner(path)).toBe(0);
    }
    expect(await owner('hooks/acme/theirs')).toBe(1234);
  });
});
