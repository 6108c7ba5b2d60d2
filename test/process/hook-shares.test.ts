// Hooks of one workspace that take all that they can of the machine, and what the hooks of another notice of it.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { processorSeconds, processTree } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const evil = '/api/workspaces/evil';
const shop = '/api/workspaces/acme/apps/shop';
const apps = 4;
let server: TestServer;
let master: Caller;

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, hooks: { timeout_ms: 5_000 } } });
  master = (await openStorefront(server.url)).master;
  expectOk(await master.post('/api/workspaces', { id: 'evil', name: 'Evil' }));
  expectOk(await master.put(`${shop}/hooks/hi.js`, { source: `routerAdd('GET', '/hi', () => 'hi');` }));
});
afterAll(() => server.stop());

/** The control group of a process, in version 2. */
const groupOf = async (pid: number) =>
  /^0::(.*)$/m.exec(await readFile(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? 'none';

/** Sets a policy of the greedy workspace to one value. */
const set = async (name: string, value: number) =>
  expectOk(await master.put(`${evil}/policies/${name}`, { kind: 'range', min: value, max: value }));

async function makeApps(prefix: string, source: string): Promise<string[]> {
  const paths = Array.from({ length: apps }, (_, index) => `${evil}/apps/${prefix}${index}`);
  for (const path of paths) {
    expectOk(await master.post(`${evil}/apps`, { id: path.split('/').at(-1), name: prefix }));
    expectOk(await master.put(`${path}/hooks/work.js`, { source }));
  }
  return paths;
}

async function runners(): Promise<number[]> {
  const rows = await processTree(server.pid);
  return rows.filter(({ command }) => /^\S*\/deno run .*--deny-read/.test(command)).map(({ pid }) => pid);
}
const spent = async (pids: number[]) =>
  (await Promise.all(pids.map(processorSeconds))).reduce((sum, seconds) => sum + seconds, 0);

/** Nobody asks for it: it works in the background, in turns that let requests in. */
const loops = `routerAdd('GET', '/go', () => {
  const turn = () => { const end = Date.now() + 100; while (Date.now() < end); setTimeout(turn, 1); };
  turn();
  return 'gone';
});`;

describe('a workspace whose hooks take all that they can', () => {
  it(
    'hook.cpu-budget: is kept to its share while another needs the processor, and the other has every response',
    async () => {
      await set('hooks.cpu_burst_sec', 0);
      await set('hooks.cpu', 10);
      const before = new Set(await runners());
      const paths = await makeApps('loop', loops);
      await Promise.all(paths.map((path) => master.get(`${path}/custom/go`)));
      const greedy = (await runners()).filter((pid) => !before.has(pid));
      expect(greedy).toHaveLength(apps);
      // What follows holds for both, and this machine decides which of them it is.
      const { hook_shares } = expectOk(await master.get('/readyz'));
      const base = (await groupOf(server.pid)).replace(/\/server$/, '');
      const group = hook_shares === 'kernel' ? `${base}/hooks/ws-evil` : await groupOf(server.pid);
      expect(await Promise.all(greedy.map(groupOf))).toEqual(greedy.map(() => group));
      expect(await server.line('kept to their share by')).toContain(`by the ${hook_shares}`);
      const statuses = new Set<number>();
      const asking = async (until: () => boolean) => {
        while (!until()) statuses.add((await master.get(`${shop}/custom/hi`)).status);
      };
      const line = server.line('"share":"hooks.cpu"');
      let isLogged = false;
      line.then(() => isLogged = true, () => undefined);
      await asking(() => isLogged);
      expect(JSON.parse(await line)).toMatchObject({ level: 'warn', type: 'share_spent', workspace: 'evil' });
      // With nothing else to run they would have two cores, and without a budget whatever others leave of them.
      const stopped = async () => {
        const from = await spent(greedy);
        const until = performance.now() + 1_000;
        await asking(() => performance.now() > until);
        return await spent(greedy) - from;
      };
      await expect.poll(stopped, { timeout: 60_000 }).toBeLessThan(1);
      expect([...statuses]).toEqual([200]);
      const usage = async () => expectOk(await master.get(`${evil}/usage`));
      await expect.poll(async () => (await usage()).hook_cpu_ms_24h, { timeout: 30_000 }).toBeGreaterThan(0);
      expect((await usage()).hook_memory_bytes).toBeGreaterThan(0);
      expect(expectOk(await master.get(`${paths[0]}/usage`)).hook_memory_bytes).toBeGreaterThan(0);
    },
    180_000,
  );

  it('hook.memory-share: loses its largest process, and another goes on', async () => {
    await set('hooks.workspace_memory_mb', 150);
    const [path = ''] = await makeApps(
      'keeps',
      `const kept = []; routerAdd('GET', '/keep', () => { kept.push(new Uint8Array(8e7).fill(1)); return 'kept'; });`,
    );
    const others = Array.from({ length: apps - 1 }, (_, index) => `${evil}/apps/keeps${index + 1}`);
    for (const one of [path, ...others]) await master.get(`${one}/custom/keep`);
    const ended = JSON.parse(await server.line('"share":"hooks.workspace_memory_mb"'));
    expect(ended).toMatchObject({ level: 'warn', type: 'share_spent', workspace: 'evil' });
    const status = async () => expectOk(await master.get(`${evil}/apps/${ended.app}/hooks/status`)).last_kill;
    await expect.poll(status).toBe('memory');
    expect((await master.get(`${shop}/custom/hi`)).body).toBe('hi');
  }, 180_000);
});
