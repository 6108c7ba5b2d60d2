// The compiled code of runners: made once, used by all, changed by none.
import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxLevel } from '../../../supervisor/protocol.ts';
import { runnerCommand, type RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';
import { raiseWalls, type Walls } from '../../../supervisor/hooks/sandbox.ts';
import { spawn } from '../../../supervisor/spawn.ts';

const { platform, arch } = process;
const isRoot = process.getuid?.() === 0;
/** Without root and without a mount, nothing would keep a runner from changing it. */
const levels: SandboxLevel[] = isRoot ? ['deno', 'os'] : ['os'];

function raiseAt(level: SandboxLevel, folder: string): Promise<Walls> {
  const config = {
    ...{
      dir: '',
      timeout_ms: 5000,
      memory_mb: 256,
      idle_ms: 1000,
      max_runners: 10,
      total_memory_mb: 0,
      jit: false,
      type_check: false,
    },
    sandbox: level,
  };
  const uid = process.getuid?.() ?? 0;
  return raiseWalls({ config, folder, uid, path: '/usr/bin:/bin', platform, arch });
}

async function raise(level: SandboxLevel, folder: string): Promise<RunnerPlan> {
  const { plan, sandbox } = await raiseAt(level, folder);
  if (plan === undefined) throw new Error(sandbox.why);
  return plan;
}

/** Everything in a folder: modes, owners and bytes. */
async function contentOf(folder: string): Promise<Map<string, string>> {
  const entries = (await readdir(folder)).sort().map(async (name): Promise<[string, string]> => {
    const { mode, uid } = await lstat(join(folder, name));
    const content = await readFile(join(folder, name), 'base64');
    return [name, `${(mode & 0o777).toString(8)} ${uid} ${content}`];
  });
  return new Map(await Promise.all(entries));
}

/** What came over the channel of a program that ends by itself, as JSON. */
async function outcomeOf(plan: RunnerPlan, source: string): Promise<unknown> {
  const code = await mkdtemp(join(tmpdir(), 'bulkhead-program-'));
  await chmod(code, 0o755);
  await writeFile(join(code, 'program.js'), source, { mode: 0o644 });
  const lines: string[] = [];
  const command = runnerCommand({ ...plan, code }, { program: 'program.js', slot: 1, memory: 256 });
  const running = spawn({ ...command, onLine: (line) => void lines.push(line) });
  running.socket?.resume();
  const exit = await running.exited;
  await running.closed;
  await rm(code, { recursive: true });
  expect(exit).toEqual({ code: 0, signal: null });
  return JSON.parse(lines.join(''));
}

describe.each(levels)('compiled code of runners at level %s', (level) => {
  let folder = '';
  let plan: RunnerPlan;
  let cache = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bulkhead-cache-'));
    await chmod(folder, 0o711);
    plan = await raise(level, folder);
    cache = plan.cache ?? '';
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Where programs find it. */
  const inside = () => level === 'os' ? '/lib/runner-cache' : cache;

  it('holds the runner and the parts of Deno that runners load', () => {
    const database = new DatabaseSync(join(cache, 'v8_code_cache_v2'), { readOnly: true });
    const rows = database.prepare('SELECT specifier FROM codecache').all();
    database.close();
    const specifiers = rows.map(({ specifier }) => String(specifier));
    expect(specifiers.filter((one) => one.startsWith('file:'))).toEqual(
      ['main.js', 'probe.js'].map((name) =>
        `file://${level === 'os' ? '/runner' : '/proc/self/fd/4'}/${name}`
      ),
    );
    for (const part of ['async_hooks', 'internal_binding/pipe_wrap', 'internal/url']) {
      expect(specifiers).toContain(`ext:deno_node/${part}.ts`);
    }
  });

  it('is made once, and again for another Deno or runner', async () => {
    const made = (await stat(cache)).mtimeMs;
    const again = await raise(level, folder);
    expect([again.cache, (await stat(cache)).mtimeMs]).toEqual([cache, made]);
    await writeFile(join(plan.code, 'main.js'), await readFile(join(plan.code, 'main.js')));
    const other = await raise(level, folder);
    expect(other.cache).not.toBe(cache);
    expect((await readdir(folder)).filter((name) => name.startsWith('cache-'))).toHaveLength(1);
    cache = other.cache ?? '';
    plan = other;
  });

  it.runIf(isRoot)('is one for all servers whose own directories are closed to runners', async () => {
    const raiseClosed = async () => await raise(level, await mkdtemp(join(folder, 'closed-')));
    const [one, other] = [await raiseClosed(), await raiseClosed()];
    expect(one.users).not.toEqual(other.users);
    expect(one.cache).toBe(other.cache);
  });

  it('is made where new files are closed to others, too', async () => {
    const other = await mkdtemp(join(tmpdir(), 'bulkhead-cache-'));
    await chmod(other, 0o711);
    const umask = process.umask(0o077);
    try {
      const walls = await raiseAt(level, join(other, 'runtime'));
      expect(walls.slow).toBe(undefined);
      expect(walls.plan?.cache).toContain(other);
    } finally {
      process.umask(umask);
      await rm(other, { recursive: true });
    }
  });

  it('says why there is none where none can be made, and once there is one nothing', async () => {
    const other = await mkdtemp(join(tmpdir(), 'bulkhead-cache-'));
    await chmod(other, 0o711);
    const first = await raiseAt(level, other);
    expect(first.slow).toBe(undefined);
    await rm(first.plan?.cache ?? '', { recursive: true });
    // In the way of the folder that it is made in.
    await writeFile(`${first.plan?.cache}.${process.pid}`, '');
    const second = await raiseAt(level, other);
    expect(second.sandbox).toEqual(first.sandbox);
    expect(second.plan?.cache).toBe(undefined);
    expect(second.slow).toMatch(/ENOTDIR|EEXIST/);
    expect((await raiseAt(level, other)).slow).toBe(undefined);
    await rm(other, { recursive: true });
  });

  it('sandbox.storage: is changed by nothing that a program with all of Deno does, whose storage stays closed', async () => {
    const before = await contentOf(cache);
    const outcome = await outcomeOf(
      plan,
      `
      const tries = {
        local: () => localStorage.setItem('a', 'b'),
        caches: async () => await (await caches.open('a')).put('https://a/', new Response('b')),
        write: () => Deno.writeTextFile(${JSON.stringify(join(inside(), 'a'))}, 'b'),
        compiled: async () => (await import('node:zlib')).deflateSync('a').length > 0 ? 'ran' : '',
        opened: async () => new (await import('node:sqlite')).DatabaseSync(${
        JSON.stringify(join(inside(), 'v8_code_cache_v2'))
      }).exec('DELETE FROM codecache'),
      };
      const outcome = {};
      for (const [name, run] of Object.entries(tries)) {
        try { outcome[name] = await run() ?? 'done'; } catch (error) { outcome[name] = error.name === 'Error' ? 'refused' : error.name; }
      }
      console.log(JSON.stringify(outcome));
      Deno.exit(0);`,
    );
    expect(outcome).toMatchObject({ local: 'NotADirectory', compiled: 'ran', write: 'NotCapable' });
    expect(Object.values(outcome ?? {})).not.toContain('done');
    expect(await contentOf(cache)).toEqual(before);
  });
});
