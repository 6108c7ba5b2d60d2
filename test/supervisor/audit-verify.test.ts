// `bulkhead audit verify` as an operator meets it: beside a running server, and when none runs.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { bulkhead } from '../harness/command.ts';
import { masterKeyOf } from '../harness/database.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { derivePassword } from '../../supervisor/master-key.ts';

let server: TestServer;
let runs = true;

beforeAll(async () => {
  server = await startServer({ keep: true });
  await makeShop(await setUp(server.url));
});
afterAll(async () => {
  if (runs) await server.stop();
  await rm(dirname(server.dataDir), { recursive: true, force: true });
});

const verify = (...args: string[]) => bulkhead(['audit', 'verify', '--data-dir', server.dataDir, ...args]);

/** Does to the workspace's log what only its owner could. */
async function tamper(text: string): Promise<void> {
  const access = {
    host: join(server.dataDir, 'run'),
    port: 5432,
    ssl: 'disable',
    username: 'bulkhead',
    password: derivePassword(masterKeyOf(server.dataDir), 'bulkhead'),
    database: 'bulkhead',
  } as const;
  const options = { cap: 1, permits: unlimitedPermits, now: Date.now };
  const control = new Pool(access, options);
  const [row] = await control.run((sql) =>
    sql<{ database: string }[]>`select database from control.workspaces`
  );
  await control.end();
  const pool = new Pool({ ...access, database: row?.database ?? '' }, options);
  await pool.transaction((sql) => sql.unsafe(`set local role bulkhead_auditor; ${text}`));
  await pool.end();
}

it('audit.integrity: audit verify tells of every log, beside the server and without it', async () => {
  const sound = await vi.waitFor(async () => {
    const found = await verify();
    expect(found.stdout).toMatch(
      /^system: ok: \d+ sound; head \d+:[0-9a-f]{64}\nworkspace acme: ok: 1 sound; head 1:[0-9a-f]{64}$/,
    );
    return found;
  }, { timeout: 20_000 });
  expect(sound).toMatchObject({ exitCode: 0, stderr: '' });
  const head = /workspace acme: .*head (\S+)/.exec(sound.stdout)?.[1] ?? '';
  expect((await verify('--workspace', 'acme', '--head', head)).exitCode).toBe(0);
  const other = head.replace(/.$/, (digit) => digit === '0' ? '1' : '0');
  const unlike = await verify('--workspace', 'acme', '--head', other);
  expect([unlike.exitCode, unlike.stdout]).toEqual([
    1,
    expect.stringContaining('the seal is not the one that was kept'),
  ]);
  const json = await verify('--json', '--system');
  expect(JSON.parse(json.stdout)).toMatchObject({ log: 'system', faulty: 0, faults: [] });
  expect(await verify('--workspace', 'nowhere')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'bulkhead: there is no workspace "nowhere"',
  });

  await tamper(`update workspace.audit_log set actor = 'nobody'`);
  await server.stop();
  runs = false;
  const broken = await verify();
  expect(broken.exitCode).toBe(1);
  expect(broken.stdout).toMatch(
    /^system: ok: .*\nworkspace acme: BROKEN: 0 sound; head .*\n {2}seal 1, row [0-9a-f-]{36}: the row, or its seal, was changed$/,
  );
});

it('refuses a head without its log, and a directory that is no server’s', async () => {
  const loose = await verify('--head', `1:${'0'.repeat(64)}`);
  expect([loose.exitCode, loose.stderr]).toEqual([1, expect.stringContaining('--head is of one log')]);
  const nowhere = await verify('--data-dir', '/nonexistent');
  expect([nowhere.exitCode, nowhere.stderr]).toEqual([1, expect.stringContaining('is not that of a server')]);
  // What a first start leaves that could not make its database.
  const unfinished = join(dirname(server.dataDir), 'unfinished');
  await mkdir(unfinished);
  await writeFile(join(unfinished, 'master.key.check'), '');
  const half = await verify('--data-dir', unfinished);
  // It may as well be of a server with a database elsewhere, whose settings are not those of this shell.
  expect([half.exitCode, half.stderr]).toEqual([
    1,
    expect.stringMatching(/ is not that of a server: .*, and database\.url if it has one$/),
  ]);
});
