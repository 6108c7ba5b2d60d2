// Where the files of hook runners are, and who can read them.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findRunnerFiles, sharedLibraries } from '../../../supervisor/hooks/runner-files.ts';

const { platform, arch } = process;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-files-'));
  await chmod(folder, 0o711);
});
afterEach(() => rm(folder, { recursive: true }));

describe('the files of runners', () => {
  it('are one file of JavaScript each that every user can read, made once', async () => {
    const files = await findRunnerFiles({ folder, isForeign: true, platform, arch });
    const scripts = await readdir(files.code);
    expect(scripts.sort()).toEqual(['main.js', 'probe.js']);
    for (const name of scripts) {
      const text = await readFile(join(files.code, name), 'utf8');
      expect(text).not.toMatch(/from\s*['"]\.\//);
      expect((await stat(join(files.code, name))).mode & 0o777).toBe(0o644);
    }
    const { mtimeMs } = await stat(files.code);
    const again = await findRunnerFiles({ folder, isForeign: true, platform, arch });
    expect([again, (await stat(again.code)).mtimeMs]).toEqual([files, mtimeMs]);
  });

  it('are elsewhere when the folder is closed to others', async () => {
    await chmod(folder, 0o700);
    const found = findRunnerFiles({ folder, isForeign: true, platform, arch });
    if (process.getuid?.() !== 0) return await expect(found).rejects.toThrow('EACCES');
    expect((await found).code).toMatch(/^\/var\/lib\/bulkhead\/runtime\//);
  });

  it('are given up after a minute when what makes them hangs, and nothing of it is left', async () => {
    const wanted = { folder, isForeign: false, platform, arch };
    const home = dirname((await findRunnerFiles(wanted)).code);
    await rm(home, { recursive: true });
    // Who writes to a pipe that nobody reads waits for ever.
    const draft = join(`${home}.${process.pid}`, 'code');
    await mkdir(draft, { recursive: true });
    await execa('mkfifo', [join(draft, 'main.js')]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let end: unknown;
      const ended = findRunnerFiles(wanted).catch((error: unknown) => end = error);
      for (; end === undefined; await setImmediate()) vi.advanceTimersByTime(10_000);
      await ended;
      expect(end).toEqual(new Error("the runner's code could not be prepared: it takes longer than 60 s"));
    } finally {
      vi.useRealTimers();
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('include the libraries that Deno needs, as the loader of this system finds them', async () => {
    const { deno } = await findRunnerFiles({ folder, isForeign: false, platform, arch });
    const libraries = await sharedLibraries(deno);
    expect(libraries.filter((path) => /\/libc\.so\.6$/.test(path))).toHaveLength(1);
    expect(libraries.filter((path) => /\/ld-linux[^/]*$/.test(path))).toHaveLength(1);
    for (const path of libraries) expect((await stat(path)).isFile()).toBe(true);
  });
});
