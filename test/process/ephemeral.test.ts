// `bulkhead ephemeral`: a server for one command, of which nothing is left.
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isApi, listProcesses, type ProcessRow, processTree } from '../harness/processes.ts';

const program = fileURLToPath(new URL('../../supervisor/main.ts', import.meta.url));

let home = '';
let temporary = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-cache-'));
  temporary = await mkdtemp(join(tmpdir(), 'bulkhead-run-'));
  await execa('chmod', ['711', temporary]);
  // The first run stores a server for the others.
  await ephemeral([], 'true');
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await rm(temporary, { recursive: true, force: true });
});

/** Runs a line of shell beside a throw-away server. */
function ephemeral(flags: readonly string[], line: string) {
  return execa(process.execPath, [program, 'ephemeral', ...flags, '--', 'sh', '-c', line], {
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary, OWN: 'kept' },
    extendEnv: false,
    reject: false,
    stripFinalNewline: true,
  });
}

/** Runs one that says so and sleeps; resolves when it does. */
async function sleeping() {
  const running = ephemeral([], 'echo awake; sleep 7600 & sleep 7601');
  // To leave a loop over its lines early would wait for its end.
  await once(running.stdout, 'data');
  return { running, pid: running.pid ?? 0 };
}

/** The processes that know the temporary folder, or that one of ours started. */
async function remaining(): Promise<ProcessRow[]> {
  return (await listProcesses()).filter(({ command }) =>
    command.includes(temporary) || /^sleep 760[01]$/.test(command)
  );
}

async function expectNothingLeft(): Promise<void> {
  await expect.poll(remaining).toEqual([]);
  await expect.poll(() => readdir(temporary)).toEqual([]);
}

it('gives the command a server that is set up, and passes its exit code on', async () => {
  const line =
    'test $OWN = kept && test -d $BULKHEAD_OUTBOX && curl -sf -H "Authorization: Bearer $BULKHEAD_TOKEN" ' +
    '$BULKHEAD_URL/api/workspaces/$BULKHEAD_WORKSPACE/apps/$BULKHEAD_APP && exit 7';
  const { stdout, stderr, exitCode } = await ephemeral(['--app', 'shop'], line);
  expect(JSON.parse(stdout)).toMatchObject({ id: 'shop', workspace: 'test' });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 7 });
  await expectNothingLeft();
});

it('passes arguments, standard input and signals on', async () => {
  const running = execa(process.execPath, [
    program,
    'ephemeral',
    '--',
    'sh',
    '-c',
    'cat; echo "$1"',
    'sh',
    '--help',
  ], {
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary },
    extendEnv: false,
    input: 'given\n',
  });
  expect((await running).stdout).toBe('given\n--help');
  const asleep = await sleeping();
  process.kill(asleep.pid, 'SIGTERM');
  expect((await asleep.running).exitCode).toBe(128 + 15);
  await expectNothingLeft();
});

it('keeps the log where it is told to, and takes settings', async () => {
  const log = join(home, 'server.log');
  const { exitCode } = await ephemeral(['--log', log, '--set', 'mail.from=Me <me@example.com>'], 'true');
  expect(exitCode).toBe(0);
  expect(await readFile(log, 'utf8')).toContain('"stopped"');
  const wrong = await ephemeral(['--set', 'mail.form=Me'], 'true');
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain('unknown setting mail.form');
  await expectNothingLeft();
});

it('serves many at once, each with data of its own', { timeout: 300_000 }, async () => {
  const line =
    'curl -sf -X POST -H "Authorization: Bearer $BULKHEAD_TOKEN" -H "Content-Type: application/json" ' +
    '-d \'{"id":"mine","name":"Mine"}\' $BULKHEAD_URL/api/workspaces/test/apps > $BULKHEAD_OUTBOX.mine';
  const all = await Promise.all(Array.from({ length: 4 }, () => ephemeral([], line)));
  expect(all.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  await expectNothingLeft();
});

it('leaves nothing when it is killed', async () => {
  const { running, pid } = await sleeping();
  process.kill(pid, 'SIGKILL');
  await running;
  await expectNothingLeft();
});

it.each([
  ['the API', isApi],
  ['PostgreSQL', ({ command }: ProcessRow) => /\/bin\/postgres -D/.test(command)],
  ['the command', ({ command }: ProcessRow) => command === 'sleep 7601' || /^sh -c echo awake/.test(command)],
  ['what removes the folder', ({ command }: ProcessRow) => command.includes('rm -rf')],
])('leaves nothing when %s is killed', async (_, isMeant) => {
  const { running, pid: supervisor } = await sleeping();
  const killed = (await processTree(supervisor)).filter(isMeant);
  expect(killed).not.toEqual([]);
  for (const { pid } of killed) process.kill(pid, 'SIGKILL');
  process.kill(supervisor, 'SIGTERM');
  // Where the command was killed, this process may be ending by itself, and is then ended by the signal.
  expect((await running).failed).toBe(true);
  await expectNothingLeft();
});

it('removes what an earlier one has left, unless that still serves', async () => {
  const longAgo = new Date(Date.now() - 3_600_000);
  const [left = '', serving = ''] = ['left', 'serving'].map((name) =>
    join(temporary, `bulkhead-ephemeral-${name}`)
  );
  for (const folder of [left, serving]) await mkdir(join(folder, 'data'), { recursive: true });
  const lock = new DatabaseSync(join(serving, 'data', 'lock'));
  lock.exec('BEGIN EXCLUSIVE');
  for (const folder of [left, serving]) await utimes(folder, longAgo, longAgo);
  expect((await ephemeral([], 'true')).exitCode).toBe(0);
  expect(await readdir(temporary)).toEqual(['bulkhead-ephemeral-serving']);
  lock.close();
  await rm(serving, { recursive: true });
});

it('needs no cache', async () => {
  const { exitCode } = await execa(process.execPath, [program, 'ephemeral', '--', 'true'], {
    env: { PATH: process.env['PATH'], XDG_CACHE_HOME: program, TMPDIR: temporary },
    extendEnv: false,
  });
  expect(exitCode).toBe(0);
  await expectNothingLeft();
});
