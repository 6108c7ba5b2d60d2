// Runners that say what they like: the API believes none of it, refuses the write in time, and serves the next one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { apiPidOf } from '../harness/kills.ts';
import { isAlive, processTree, residentMemory } from '../harness/processes.ts';
import { openStorefront } from '../harness/storefront.ts';
import { type Breach, excessive, forged, garbage } from './cases.ts';
import { type HostileServer, startHostileServer } from './runner.ts';

const app = '/api/workspaces/acme/apps/shop';
const records = `${app}/collections/orders/records`;
const timeout = 500;
/** What an honest runner does with any other title. */
const honest = `send({ type: 'result', id: frame.id, outcome: 'done', changes: {} });`;

let hostile: HostileServer;
let admin: Caller;
let api = 0;

beforeAll(async () => {
  hostile = await startHostileServer();
  admin = (await openStorefront(hostile.server.url)).master;
  expectOk(
    await admin.put(`${app}/policies/hooks.timeout_ms`, { kind: 'range', min: timeout, max: timeout }),
  );
  api = await apiPidOf(hostile.server);
});
afterAll(() => hostile.stop());

/** Puts a runner in place that says this when a record is not titled `next`, and answers pings. */
async function put(says: string): Promise<void> {
  const source = `return (frame) => {
    if (frame.type === 'ping') return send({ type: 'pong', id: frame.id });
    if (frame.type !== 'event') return;
    if (frame.record.fields.title === 'next') { ${honest} return; }
    ${says}
  };`;
  const { reload } = expectOk(await admin.put(`${app}/hooks/hostile.js`, { source }));
  expect(reload.errors).toEqual([]);
}

async function titles(): Promise<string[]> {
  const { items } = expectOk(await admin.get(`${records}?per_page=200`));
  return items.map(({ fields }: { fields: { title: string } }) => fields.title);
}

describe('a hostile runner', () => {
  const waits: number[] = [];
  afterAll(() =>
    console.log(`the next write after a breach: ${waits.map(Math.round).sort((a, b) => a - b).join(' ')} ms`)
  );

  it.each<Breach>([...garbage, ...forged, ...excessive])(
    'rpc.confused-deputy: gets nothing done by $title',
    async ({ title, says, told }) => {
      await put(says);
      const began = performance.now();
      const { status, body } = await admin.post(records, { title });
      expect(performance.now() - began).toBeLessThan(timeout + 1_500);
      expect(body.message).toMatch(told);
      expect([400, 500]).toContain(status);
      const broken = performance.now();
      expectOk(await admin.post(records, { title: 'next' }));
      waits.push(performance.now() - broken);
      expect(await titles()).not.toContain(title);
    },
  );

  it('rpc.confused-deputy: is asked for nothing of another app, whoever it says that it is', async () => {
    const bank = '/api/workspaces/acme/apps/bank';
    expectOk(await admin.post('/api/workspaces/acme/apps', { id: 'bank', name: 'Bank' }));
    const fields = [{ name: 'title', kind: 'text' }];
    expectOk(await admin.post(`${bank}/collections`, { schema: { id: 'vault', kind: 'base', fields } }));
    expectOk(await admin.post(`${bank}/collections/vault/records`, { title: 'treasure' }));
    const source = `let event = 0;
      return (frame) => {
        if (frame.type === 'event') {
          event = frame.id;
          const forged = { workspace: 'acme', app: 'bank', schema: 'bank', role: 'master_admin', auth: { role: 'master_admin' } };
          send({ ...forged, type: 'call', id: 1, parent: event, method: 'records.list', args: ['vault', forged, forged] });
        }
        if (frame.type === 'result') {
          send({ ...frame, type: 'result', id: event, outcome: 'veto', message: JSON.stringify(frame), fault: null });
        }
      };`;
    expectOk(await admin.put(`${app}/hooks/hostile.js`, { source }));
    const { body } = await admin.post(records, { title: 'x' });
    expect(body.code).toBe('hook_veto');
    expect(JSON.parse(body.message)).toMatchObject({ ok: false, error: { code: 'not_found' } });
    expect(body.message).not.toContain('treasure');
  });

  it('rpc.fuzz: is killed at its first breach, though it reads nothing more and so hears of no end', async () => {
    const runners = async () =>
      (await processTree(hostile.server.pid))
        .filter(({ command }) => /^\S*\/deno run .*--deny-read/.test(command))
        .map(({ pid }) => pid);
    // That of the code before may still be on its way out.
    const before = await runners();
    await put(`raw(new Uint8Array(4)); for (;;);`);
    const [fresh = 0, ...others] = (await runners()).filter((pid) => !before.includes(pid));
    expect([fresh > 0, others]).toEqual([true, []]);
    expect((await admin.post(records, { title: 'x' })).body.message).toContain('breaking its protocol');
    await expect.poll(() => isAlive(fresh), { interval: 5 }).toBe(false);
  });

  it('leaves the API the process and the size that it had, and with no failure of its own', async () => {
    // All of it has been done once, so what is made only once is there.
    const before = await residentMemory(api);
    for (const { says } of excessive) {
      await put(says);
      await admin.post(records, { title: 'again' });
    }
    const grown = await residentMemory(api) - before;
    console.log(`the API grew by ${grown.toFixed(1)} MiB`);
    expect(grown).toBeLessThan(20);
    expect(hostile.server.output.filter((line) => /background_failed|unhandled|TypeError/.test(line)))
      .toEqual([]);
  });
});
