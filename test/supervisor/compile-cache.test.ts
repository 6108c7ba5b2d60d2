// The compiled code that a server which runs from its sources keeps beside them.
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, it } from 'vitest';

const project = join(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;
/** The sources are compiled, beside other tests. Milliseconds. */
const slow = { timeout: 120_000 };

let home = '';
let cache = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-compiled-'));
  await chmod(home, 0o755);
  for (const name of ['package.json', 'supervisor', 'api', 'storage', 'hook-runner']) {
    await cp(join(project, name), join(home, name), { recursive: true });
  }
  // The packages themselves, but a cache of this copy's own.
  await mkdir(join(home, 'node_modules'));
  const packages = (await readdir(join(project, 'node_modules'))).filter((name) => name !== '.cache');
  for (const name of packages) {
    await symlink(join(project, 'node_modules', name), join(home, 'node_modules', name));
  }
  cache = join(home, 'node_modules/.cache/bulkhead');
});
afterEach(() => rm(home, { recursive: true }));

/** Runs the program with this umask; it ends with 0. */
async function runWith(umask: string, user: { uid?: number; gid?: number } = {}): Promise<void> {
  const program = ['node', join(home, 'supervisor/main.ts'), 'config'];
  await execa('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', ...program], { cwd: home, ...user });
}

async function folders(): Promise<string[]> {
  return (await readdir(cache)).map((name) => join(cache, name));
}

it('are in folders that others may not write to, whatever the umask', slow, async () => {
  await runWith('000');
  const made = await folders();
  expect(made).not.toEqual([]);
  for (const folder of [join(home, 'node_modules/.cache'), cache, ...made]) {
    expect((await stat(folder)).mode & 0o022, folder).toBe(0);
  }
});

it.runIf(isRoot)('are used as they are where sources are newer and nothing can be added', slow, async () => {
  const user = { uid: 65_534, gid: 65_534 };
  await mkdir(cache, { recursive: true });
  await chown(cache, user.uid, user.gid);
  await runWith('022', user);
  for (const folder of await folders()) {
    await chown(folder, 0, 0);
    await utimes(folder, 0, 0);
  }
  await runWith('022', user);
});

it.runIf(isRoot)('can be read by the user of the API, who is another than root', slow, async () => {
  await runWith('022');
  const modes: number[] = [];
  for (const folder of (await folders()).filter((path) => path.endsWith('-0') && !path.includes('filled'))) {
    for (const name of await readdir(folder)) modes.push((await stat(join(folder, name))).mode & 0o777);
  }
  // What only the supervisor loads is added at its end.
  expect(modes.filter((mode) => mode === 0o644).length).toBeGreaterThan(500);
});

it('are made once, and again when sources are newer', slow, async () => {
  const changed = async () =>
    Math.max(...await Promise.all((await folders()).map(async (path) => (await stat(path)).mtimeMs)));
  await runWith('022');
  const first = await changed();
  await runWith('022');
  expect(await changed()).toBe(first);
  await utimes(join(home, 'api/main.ts'), new Date(), new Date());
  await runWith('022');
  expect(await changed()).toBeGreaterThan(first);
});

it('are made without a trace at the pipe from which a shell reads its script', slow, async () => {
  const { stdout } = await execa('bash', ['-s'], {
    input: `node ${join(home, 'supervisor/main.ts')} --version > version\ngrep flags: /proc/$$/fdinfo/0\n`,
    cwd: home,
  });
  expect(await folders()).not.toEqual([]);
  // Without O_NONBLOCK (octal 4000), which makes bash give up where it finds nothing to read yet.
  expect(stdout).toMatch(/^flags:\s+0?2$/);
});
