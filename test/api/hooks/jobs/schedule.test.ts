// Scheduled jobs on a real server: when they run, what ends them, and what is told of them.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { startServer } from '../../../harness/server.ts';
import { logInMaster, makeShop, permitFrequentJobs, setUp } from '../../../harness/set-up.ts';

let own: OwnWorkspace;
beforeAll(async () => {
  own = await ownWorkspace();
  await permitFrequentJobs(own.master);
});

interface Line {
  ts: string;
  level: string;
  message: string;
  request_id: string | null;
}

const everySecond = (name: string, body: string) => `cronAdd('${name}', '* * * * * *', ${body});\n`;
const patience = { timeout: 10_000, interval: 50 };

async function put({ admin, path }: OwnApp, source: string, filename = 'jobs.ts') {
  return expectOk(await admin.put(`${path}/hooks/${filename}`, { source })).reload;
}

/** What the app's log has with such a text, oldest first. */
async function lines({ admin, path }: Pick<OwnApp, 'admin' | 'path'>, text: string): Promise<Line[]> {
  const { items } = expectOk(await admin.get(`${path}/hooks/logs?per_page=200`));
  return items.filter(({ message }: Line) => message.includes(text)).reverse();
}

/** 0 for a line of a job that has ended. */
const ended = ({ message }: Line) => Number(!message.startsWith('ended'));

const until = (app: Pick<OwnApp, 'admin' | 'path'>, text: string, count: number) =>
  vi.waitFor(async () => {
    const found = await lines(app, text);
    expect(found.length).toBeGreaterThanOrEqual(count);
    return found;
  }, patience);

describe('a job', { timeout: 30_000 }, () => {
  it('runs when it is due, with $app, and its status is shown', async () => {
    const app = await own.app();
    const { path, admin } = app;
    const schema = { id: 'ticks', kind: 'base', fields: [{ name: 'at', kind: 'text' }] };
    expectOk(await admin.post(`${path}/collections`, { schema }));
    const tick = `async (e) => {
      await $app.records.create('ticks', { at: e.scheduledAt });
      console.log('ticked', e.name, e.scheduledAt);
    }`;
    expect(await put(app, everySecond('tick', tick))).toEqual({ loaded: ['jobs.ts'], errors: [] });
    const found = await until(app, 'ticked', 3);
    expect(found[0]?.message).toMatch(/^ticked tick \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
    expect(found[0]?.request_id).toMatch(/^[0-9a-f-]{36}$/);
    // A time for each run, none twice.
    expect(new Set(found.map(({ message }) => message)).size).toBe(found.length);
    const ticks = expectOk(await admin.get(`${path}/collections/ticks/records`));
    expect(ticks.total_items).toBeGreaterThanOrEqual(3);
    const { jobs, registrations, runs } = expectOk(await admin.get(`${path}/hooks/status`));
    expect(registrations.jobs).toBe(1);
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(jobs).toEqual([{
      name: 'tick',
      expression: '* * * * * *',
      last_run: expect.any(String),
      next_run: expect.any(String),
    }]);
    expect(Date.parse(jobs[0].next_run) - Date.parse(jobs[0].last_run)).toBeGreaterThan(0);
  });

  it('that throws is told of in the log, with its place, and runs again', async () => {
    const app = await own.app();
    await put(app, everySecond('sour', "() => {\n  throw new Error('no milk');\n}"));
    const [first, second] = await until(app, 'no milk', 2);
    expect(first).toMatchObject({ level: 'error', file: 'jobs.ts', fields: { line: 2, column: 9 } });
    expect(second?.request_id).not.toBe(first?.request_id);
    expect(expectOk(await app.admin.get(`${app.path}/hooks/status`)).failed_runs).toBeGreaterThanOrEqual(2);
  });

  it('that does not end in time is told of in the log, by its file', async () => {
    const app = await own.app();
    await put(app, everySecond('endless', '() => new Promise(() => {})'));
    const policy = `${app.path}/policies/hooks.timeout_ms`;
    expectOk(await app.admin.put(policy, { kind: 'range', min: 1, max: 1_000 }));
    const [late] = await until(app, 'job "endless": the hook did not finish in time', 1);
    expect(late).toMatchObject({ level: 'error', file: 'jobs.ts' });
  });

  it('runs once at a time: what is due meanwhile is left out', async () => {
    const app = await own.app();
    await put(
      app,
      everySecond(
        'slow',
        `async () => { console.log('began'); await new Promise((r) => setTimeout(r, 2_500)); console.log('ended'); }`,
      ),
    );
    await until(app, 'ended', 2);
    expect((await lines(app, 'job "slow" has not ended')).length).toBeGreaterThanOrEqual(2);
    const order = (await lines(app, 'ed')).concat(await lines(app, 'began'))
      .filter(({ message }) => message === 'began' || message === 'ended')
      .sort((a, b) => a.ts < b.ts ? -1 : 1).map(({ message }) => message);
    for (let index = 1; index < order.length; index++) expect(order[index]).not.toBe(order[index - 1]);
  });

  it('waits while four others of its workspace run, and those of one app do not keep out another', async () => {
    const crowd = await ownWorkspace();
    const [many, few] = [await crowd.app(), await crowd.app()];
    const body = `async (e) => {
      console.log('began');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      console.log('ended', e.name);
    }`;
    const jobs = (names: string[]) => names.map((name) => everySecond(name, body)).join('');
    await put(many, jobs(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']));
    await until(many, 'began', 4);
    await put(few, jobs(['alone']));
    await until(few, 'ended alone', 2);
    for (const name of ['a', 'i']) await until(many, `ended ${name}`, 1);
    let [running, greatest] = [0, 0];
    const told = [...await lines(many, ''), ...await lines(few, '')].filter(({ level }) => level === 'info');
    // Those of one millisecond may have ended before they began.
    for (
      const { message } of told.sort((a, b) => a.ts < b.ts ? -1 : Number(a.ts > b.ts) || ended(a) - ended(b))
    ) {
      running += message === 'began' ? 1 : -1;
      greatest = Math.max(greatest, running);
    }
    expect(greatest).toBe(4);
  });

  it('follows a reload at once, and ends with its file', async () => {
    const app = await own.app();
    await put(app, everySecond('old', "() => console.log('old ran')"));
    await until(app, 'old ran', 1);
    await put(app, everySecond('new', "() => console.log('new ran')"));
    const before = (await lines(app, 'old ran')).length;
    await until(app, 'new ran', 2);
    expect((await lines(app, 'old ran')).length - before).toBeLessThanOrEqual(1);
    expectOk(await app.admin.delete(`${app.path}/hooks/jobs.ts`));
    const witness = await own.app();
    await put(witness, everySecond('witness', "() => console.log('witness ran')"));
    const last = (await lines(app, 'new ran')).length;
    await until(witness, 'witness ran', 3);
    expect(await lines(app, 'new ran')).toHaveLength(last);
    expect(expectOk(await app.admin.get(`${app.path}/hooks/status`)).jobs).toEqual([]);
  });

  it('ends with its app, and does not come back with another of its id', async () => {
    const app = await own.app();
    await put(app, everySecond('ghost', "() => console.log('ghost ran')"));
    await until(app, 'ghost ran', 1);
    expectOk(await own.admin.delete(app.path));
    expectOk(await own.admin.post(app.path.replace(/\/[^/]+$/, ''), { id: app.id, name: 'Again' }));
    const witness = await own.app();
    await put(witness, everySecond('witness', "() => console.log('witness ran')"));
    await until(witness, 'witness ran', 3);
    expect(await lines({ admin: own.admin, path: app.path }, 'ghost')).toEqual([]);
  });

  it('of a file that somebody drops into an app that nobody has used runs, too', async () => {
    const app = await own.app();
    const folder = join(inject('server').dataDir, 'hooks', own.id, app.id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'dropped.js'), everySecond('dropped', "() => console.log('dropped ran')"));
    await until(app, 'dropped ran', 2);
  });

  it('with a bad expression is an error of its file, with line and column, and the other files stay', async () => {
    const app = await own.app();
    await put(app, everySecond('good', "() => console.log('good ran')"), 'good.ts');
    const { loaded, errors } = await put(app, "\n  cronAdd('bad', '61 * * * *', () => {});\n", 'bad.ts');
    expect(loaded).toEqual(['good.ts']);
    expect(errors).toEqual([{
      file: 'bad.ts',
      message: expect.stringContaining('cron expression "61 * * * *": "61" is no minute'),
      line: 2,
      column: 3,
    }]);
    await until(app, 'good ran', 1);
  });
});

it('jobs run in one of several API processes, outlive a restart, and wake a runner that rests', {
  timeout: 120_000,
}, async () => {
  const config = { api: { workers: 2 }, hooks: { idle_ms: 1_000 } };
  const home = await startServer({ config, keep: true });
  const path = '/api/workspaces/acme/apps/shop';
  try {
    const admin = await setUp(home.url);
    await makeShop(admin);
    await permitFrequentJobs(admin);
    const schema = {
      id: 'ticks',
      kind: 'base',
      fields: [{ name: 'at', kind: 'text', unique: true }, { name: 'n', kind: 'number' }],
    };
    expectOk(await admin.post(`${path}/collections`, { schema }));
    const source = `let n = 0;
      cronAdd('t', '*/7 * * * * *', (e) => $app.records.create('ticks', { at: e.scheduledAt, n: ++n }));`;
    expectOk(await admin.put(`${path}/hooks/jobs.ts`, { source }));
    const records = `${path}/collections/ticks/records`;
    await ticked(admin, records, 1);
    await vi.waitFor(async () => {
      expect(expectOk(await admin.get(`${path}/hooks/status`)).running).toBe(false);
    }, { timeout: 20_000, interval: 50 });
    const rested = expectOk(await admin.get(records)).total_items;
    await ticked(admin, records, rested + 1);
    // Of one file that stayed loaded the run after the rest would count on.
    const { items } = expectOk(await admin.get(records));
    expect(items[rested].fields.n).toBe(1);
    // A second process that ran it would have made the same record.
    const lines = expectOk(await admin.get(`${path}/hooks/logs`)).items;
    expect(lines.filter(({ level }: { level: string }) => level === 'error')).toEqual([]);
  } finally {
    await home.stop();
  }
  const again = await startServer({ config, dataDir: home.dataDir });
  try {
    const admin = await logInMaster(again.url);
    const records = `${path}/collections/ticks/records`;
    const before = expectOk(await admin.get(records)).total_items;
    await ticked(admin, records, before + 1);
  } finally {
    await again.stop();
    await rm(dirname(home.dataDir), { recursive: true, force: true });
  }
});

async function ticked(admin: ReturnType<typeof as>, records: string, count: number): Promise<void> {
  await vi.waitFor(async () => {
    expect(expectOk(await admin.get(records)).total_items).toBeGreaterThanOrEqual(count);
  }, { timeout: 20_000, interval: 100 });
}
