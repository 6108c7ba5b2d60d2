// Jobs that an app admin runs by hand.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type ApiResponse,
  as,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
} from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { openPair } from '../../../harness/two-processes.ts';

/** Jobs that end when a request to `/go` says so. */
const held = (names: readonly string[]) => `
  const goes = [];
  for (const name of ${JSON.stringify(names)}) {
    cronAdd(name, '@yearly', () => new Promise((resolve) => { goes.push(resolve); }));
  }
  routerAdd('GET', '/held', () => goes.length);
  routerAdd('POST', '/go', () => { const go = goes.shift(); go?.(); return go !== undefined; });`;

const patient = { kind: 'range', min: 30_000, max: 30_000 };

let own: OwnWorkspace;
beforeAll(async () => {
  own = await ownWorkspace();
});

async function appWith(source: string, place = own): Promise<OwnApp> {
  const app = await place.app();
  expectOk(await app.admin.put(`${app.path}/policies/hooks.timeout_ms`, patient));
  expectOk(await app.admin.put(`${app.path}/hooks/jobs.js`, { source }));
  return app;
}

const run = ({ admin, path }: OwnApp, name: string) =>
  admin.post(`${path}/hooks/jobs/${encodeURIComponent(name)}/run`);

/** Waits until so many jobs of an app run that a request ends. */
const heldAre = ({ path }: OwnApp, count: number) =>
  expect.poll(async () => (await as().get(`${path}/custom/held`)).body, { timeout: 20_000 }).toBe(count);

describe('a job that is run by hand', () => {
  it('runs now, and the response, log, status and audit log say so', async () => {
    const app = await appWith(`cronAdd('a name / 1', '@yearly', (e) => {
      console.log('ran', e.name, e.scheduledAt);
    });`);
    const before = Date.now();
    const response = await run(app, 'a name / 1');
    const duration_ms: unknown = expect.any(Number);
    expect(expectOk(response)).toEqual({ name: 'a name / 1', status: 'done', duration_ms, errors: [] });
    const [line] = expectOk(await app.admin.get(`${app.path}/hooks/logs`)).items;
    expect(line.message).toContain('ran a name / 1 ');
    expect(line.request_id).toBe(response.headers.get('X-Request-Id'));
    const [{ last_run, next_run }] = expectOk(await app.admin.get(`${app.path}/hooks/status`)).jobs;
    expect(Date.parse(last_run)).toBeGreaterThanOrEqual(before);
    expect(line.message).toContain(last_run);
    expect(Date.parse(next_run)).toBeGreaterThan(Date.parse(last_run));
    const [entry] = expectOk(await app.admin.get(`${app.path}/audit?action=job_run`)).items;
    expect(entry).toMatchObject({ target: 'a name / 1', details: { request_id: line.request_id } });
  });

  it('and fails says why, and where', async () => {
    const app = await appWith(`
      cronAdd('throws', '@yearly', () => { throw new Error('no milk'); });
      cronAdd('endless', '@yearly', () => new Promise(() => {}));`);
    const policy = `${app.path}/policies/hooks.timeout_ms`;
    expectOk(await app.admin.put(policy, { kind: 'range', min: 1, max: 2_000 }));
    const file = 'jobs.js';
    expect(expectOk(await run(app, 'throws'))).toMatchObject({
      status: 'failed',
      errors: [{ file, message: 'Error: no milk', line: 2, column: 50 }],
    });
    const message = 'job "endless": the hook did not finish in time';
    expect(expectOk(await run(app, 'endless'))).toMatchObject({
      status: 'failed',
      errors: [{ file, message, line: null, column: null }],
    });
  });

  it('is none of an unknown name, and none that policy leaves out or whose file is gone', async () => {
    const app = await appWith(
      `cronAdd('often', '* * * * * *', () => {}); cronAdd('fine', '@yearly', () => {});`,
    );
    const limit = { kind: 'range', min: 60, max: 86_400 };
    expectOk(await app.admin.put(`${app.path}/policies/hooks.cron_min_sec`, limit));
    expectOk(await app.admin.post(`${app.path}/hooks/reload`));
    expectError(await run(app, 'other'), 404, 'not_found');
    expectError(await run(app, 'often'), 404, 'not_found');
    expectOk(await run(app, 'fine'));
    expectOk(await app.admin.delete(`${app.path}/hooks/jobs.js`));
    expectError(await run(app, 'fine'), 404, 'not_found');
    expect(expectOk(await app.admin.get(`${app.path}/audit?action=job_run`)).total_items).toBe(1);
  });

  it('runs once at a time', async () => {
    const app = await appWith(held(['slow']));
    const first = run(app, 'slow');
    await heldAre(app, 1);
    expectError(await run(app, 'slow'), 409, 'conflict');
    expectOk(await as().post(`${app.path}/custom/go`));
    expect(expectOk(await first).status).toBe('done');
    expect(expectOk(await app.admin.get(`${app.path}/audit?action=job_run`)).total_items).toBe(1);
  });

  it('waits while four others of its workspace run', async () => {
    const place = await ownWorkspace();
    const app = await appWith(held(['a', 'b', 'c', 'd']), place);
    const other = await appWith(held(['e']), place);
    const four = ['a', 'b', 'c', 'd'].map((name) => run(app, name));
    await heldAre(app, 4);
    const fifth = run(other, 'e');
    // Nothing tells that it waits: it has had the time that a run of another workspace takes.
    const elsewhere = await appWith("cronAdd('quick', '@yearly', () => {});");
    for (let runs = 0; runs < 5; runs++) expectOk(await run(elsewhere, 'quick'));
    await heldAre(other, 0);
    expectOk(await as().post(`${app.path}/custom/go`));
    await heldAre(other, 1);
    expectOk(await as().post(`${other.path}/custom/go`));
    expect(expectOk(await fifth).status).toBe('done');
    for (let left = 3; left > 0; left--) expectOk(await as().post(`${app.path}/custom/go`));
    for (const one of await Promise.all(four)) expect(expectOk(one).status).toBe('done');
  });
});

it(
  'a job runs in the process that keeps the schedule, whichever of two is asked',
  { timeout: 90_000 },
  async () => {
    const pair = await openPair();
    try {
      const source = `${held(['slow'])}
      let n = 0;
      cronAdd('count', '@yearly', () => console.log('count', ++n));`;
      expectOk(await pair.ask('PUT', `${pair.app}/policies/hooks.timeout_ms`, patient));
      expectOk(await pair.ask('PUT', `${pair.app}/hooks/jobs.js`, { source }));
      const runs = (name: string) => pair.ask('POST', `${pair.app}/hooks/jobs/${name}/run`);
      for (let times = 0; times < 12; times++) expect(expectOk(await runs('count')).status).toBe('done');
      const { items } = expectOk(await pair.ask('GET', `${pair.app}/hooks/logs`));
      const counts = items.map(({ message }: { message: string }) => message).reverse();
      expect(counts).toEqual(Array.from({ length: 12 }, (_unused, index) => `count ${index + 1}`));
      for (let times = 0; times < 6; times++) expectError(await runs('none'), 404, 'not_found');
      const ended: ApiResponse[] = [];
      const all = Array.from({ length: 8 }, () => runs('slow').then((response) => ended.push(response)));
      await expect.poll(() => ended.length, { timeout: 20_000 }).toBe(7);
      for (const response of ended) expectError(response, 409, 'conflict');
      // Of two runners, only that of one process has it.
      await vi.waitUntil(async () => (await pair.ask('POST', `${pair.app}/custom/go`)).body === true, 20_000);
      await Promise.all(all);
      expect(ended.at(-1)?.body).toMatchObject({ status: 'done' });
    } finally {
      await pair.stop();
    }
  },
);
