// `bulkhead admin password` as an operator meets it whose password is lost: beside a running server, and when none runs.
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { bulkhead } from '../harness/command.ts';
import { endpointOf } from '../harness/database.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { somebodyWaits } from '../harness/waiting.ts';

const lost = 'a password that is lost';
/** Several starts of a server, beside other tests. Milliseconds. */
const slow = { timeout: 120_000 };
let server: TestServer;
let runs: boolean;

beforeEach(async () => {
  server = await startServer({ keep: true });
  runs = true;
});
afterEach(async () => {
  if (runs) await server.stop();
  await rm(dirname(server.dataDir), { recursive: true, force: true });
});

const resetPassword = (...args: string[]) =>
  bulkhead(['admin', 'password', '--data-dir', server.dataDir, ...args]);

const anyone = (): Caller => as(undefined, server.url);
const login = (password: string) => anyone().post('/_/auth/admin/login', { username: 'admin', password });

it(
  'gives a new password beside the server: the old one, its sessions, tokens and lock are gone',
  slow,
  async () => {
    expectOk(await anyone().post('/_/setup', { password: lost }));
    const session = expectOk(await login(lost));
    const master = as(session.access_token, server.url);
    for (let attempt = 0; attempt < 5; attempt++) expect((await login('a guess')).status).toBe(401);
    expect((await login(lost)).status).toBe(429);

    const { exitCode, stdout, stderr } = await resetPassword();
    expect([exitCode, stderr]).toEqual([0, '']);
    const [, password = ''] = /^username: admin\npassword: ([\w-]{24})$/.exec(stdout) ?? [];

    await vi.waitUntil(async () => (await master.get('/api/workspaces')).status === 401, { timeout: 2_000 });
    const refreshed = await anyone().post('/_/auth/refresh', { refresh_token: session.refresh_token });
    expect(refreshed.status).toBe(401);
    expect((await login(lost)).status).toBe(401);
    const renewed = as(expectOk(await login(password)).access_token, server.url);
    const { items } = expectOk(await renewed.get('/api/system/audit?action=password_reset'));
    expect(items).toMatchObject([{ actor: 'system', target: 'admin', details: { by: 'command' } }]);
  },
);

it('gives one while somebody else changes the password, who does not wait for it either', slow, async () => {
  expectOk(await anyone().post('/_/setup', { password: lost }));
  const options = { cap: 1, permits: unlimitedPermits, now: Date.now };
  const control = new Pool(endpointOf(server.dataDir, 'bulkhead'), options);
  let reset: ReturnType<typeof resetPassword> | undefined;
  try {
    await control.transaction(async (sql) => {
      // As a sign-in or another reset does, which has read what it is about to change.
      await sql`select 1 from control.master_admins for share`;
      reset = resetPassword('--json');
      await vi.waitUntil(() => somebodyWaits(sql), { timeout: 60_000 });
      await sql`update control.master_admins set updated_at = now()`;
    });
  } finally {
    await control.end();
  }
  const { exitCode, stdout, stderr } = await reset ?? {};
  expect([exitCode, stderr]).toEqual([0, '']);
  expectOk(await login(JSON.parse(stdout ?? '').password));
});

it('gives one when no server runs, and another one each time', slow, async () => {
  expectOk(await anyone().post('/_/setup', { password: lost }));
  const session = expectOk(await login(lost));
  await server.stop();
  runs = false;
  const first = JSON.parse((await resetPassword('--json')).stdout);
  const second = JSON.parse((await resetPassword('--json')).stdout);
  expect(first).toEqual({ username: 'admin', password: expect.stringMatching(/^[\w-]{24}$/) });
  expect(second.password).not.toBe(first.password);

  server = await startServer({ keep: true, dataDir: server.dataDir });
  runs = true;
  expect((await as(session.access_token, server.url).get('/api/workspaces')).status).toBe(401);
  expect((await login(first.password)).status).toBe(401);
  expectOk(await login(second.password));
});

it(
  'refuses where setup was never done, with another master key, and in a directory that is no server’s',
  slow,
  async () => {
    expect(await resetPassword()).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'bulkhead: the server was never set up: POST /_/setup sets the first password',
    });
    expect(expectOk(await anyone().get('/healthz'))).toEqual({ initialized: false });
    const foreign = await resetPassword('--secrets-master-key', Buffer.alloc(32, 7).toString('base64'));
    expect([foreign.exitCode, foreign.stdout, foreign.stderr]).toEqual([
      1,
      '',
      expect.stringContaining('is not the key that this data_dir was made with'),
    ]);
    const nowhere = await resetPassword('--data-dir', '/nonexistent');
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('is not that of a server'),
    ]);
  },
);
