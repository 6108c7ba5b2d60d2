// Which wall a machine gets: tried with real processes behind it.
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseWalls } from '../../../supervisor/hooks/sandbox.ts';

const { platform, arch } = process;
let folder = '';
/** A search path with setpriv and without bubblewrap. */
let poorPath = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-sandbox-'));
  poorPath = join(folder, 'bin');
  await mkdir(poorPath);
  await symlink('/usr/bin/setpriv', join(poorPath, 'setpriv'));
});
afterAll(() => rm(folder, { recursive: true }));

function raise(
  sandbox: 'auto' | 'deno' | 'os',
  { path = '/usr/bin:/bin', jit = false, cpu = arch }: { path?: string; jit?: boolean; cpu?: string } = {},
) {
  const config = {
    dir: '',
    timeout_ms: 5000,
    memory_mb: 256,
    idle_ms: 1000,
    max_runners: 10,
    total_memory_mb: 0,
    sandbox,
    jit,
    type_check: false,
  };
  return raiseWalls({ config, folder, uid: process.getuid?.() ?? 0, path, platform, arch: cpu });
}

describe('the sandbox', () => {
  it.each([false, true])('is namespaces and a filter where they work (machine code: %s)', async (jit) => {
    const { sandbox, plan } = await raise('auto', { jit });
    expect(sandbox).toEqual({
      level: 'os',
      shares: 'supervisor',
      why: 'Deno without permissions, limits, namespaces and a seccomp filter',
    });
    expect(plan).toMatchObject({ level: 'os', jit });
  });

  it('is Deno and limits where there is no bubblewrap, and says so', async () => {
    const { sandbox, plan } = await raise('auto', { path: poorPath });
    expect(sandbox.level).toBe('deno');
    expect(sandbox.why).toContain('no os level: bwrap is not installed (package bubblewrap)');
    expect(plan?.level).toBe('deno');
  });

  it('is never stronger than wanted', async () => {
    expect((await raise('deno')).sandbox.level).toBe('deno');
  });

  it('sandbox.require: is nothing at all, rather than a weaker one, where os is wanted and does not work', async () => {
    const { sandbox, plan } = await raise('os', { path: poorPath });
    expect(plan).toBeUndefined();
    expect(sandbox).toEqual({
      level: 'none',
      shares: 'none',
      why: 'hooks do not run: no os level: bwrap is not installed (package bubblewrap)',
    });
  });

  it('sandbox.require: is nothing at all where neither bubblewrap nor what takes privileges away is there', async () => {
    const { sandbox, plan } = await raise('auto', { path: join(folder, 'empty') });
    expect(plan).toBeUndefined();
    expect(sandbox).toEqual({
      level: 'none',
      shares: 'none',
      why: 'hooks do not run: no os level: bwrap is not installed (package bubblewrap); ' +
        'no deno level: setpriv is not installed (package util-linux)',
    });
  });

  it('sandbox.require: is not namespaces without a seccomp filter, where there is none for the processor', async () => {
    const required = await raise('os', { cpu: 'mips' });
    expect(required.plan).toBeUndefined();
    expect(required.sandbox).toMatchObject({ level: 'none', why: expect.stringContaining('mips') });
  });

  it('is not taken from a bubblewrap that is there and builds no walls', async () => {
    const { plan } = await raise('deno');
    const script =
      `while [ "$1" != /deno ]; do shift; done; shift; for last; do :; done; exec ${plan?.deno} run --v8-flags=--jitless ${plan?.code}/probe.js`;
    await writeFile(join(folder, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await chmod(folder, 0o755);
    const found = await raise('os', { path: `${folder}:${poorPath}` });
    // As root `setpriv` stands before it, which gives runners users of their own.
    const missing = process.getuid?.() === 0
      ? 'a seccomp filter, a process namespace'
      : 'no new privileges, a seccomp filter, a process namespace';
    expect(found.sandbox).toEqual({
      level: 'none',
      shares: 'none',
      why: `hooks do not run: no os level: a runner that was started does not have ${missing}`,
    });
  });

  it('is not taken from a setpriv that is there and takes nothing away', async () => {
    const bin = join(folder, 'generous');
    await mkdir(bin);
    const script = 'while [ "${1#/}" = "$1" ]; do shift; done; exec "$@"';
    await writeFile(join(bin, 'setpriv'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const { sandbox, plan } = await raise('deno', { path: bin });
    expect(plan).toBeUndefined();
    const missing = process.getuid?.() === 0
      ? 'no new privileges, no capabilities, a user of its own'
      : 'no new privileges';
    expect(sandbox).toEqual({
      level: 'none',
      shares: 'none',
      why: `hooks do not run: no deno level: a runner that was started does not have ${missing}`,
    });
  });

  it('gives every data directory a range of users of its own, far from those of people', async () => {
    const { plan } = await raise('deno');
    if (process.getuid?.() !== 0) return expect(plan?.users).toBeUndefined();
    expect(plan?.users?.count).toBeGreaterThanOrEqual(600);
    expect(plan?.users?.first).toBeGreaterThanOrEqual(60_578);
  });
});
