// The program as an operator meets it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = join(root, 'supervisor', 'main.ts');

let cwd = '';
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'bulkhead-cli-'));
});
afterEach(() => rm(cwd, { recursive: true }));

async function bulkhead(args: string[], env: Record<string, string> = {}) {
  const options = {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    extendEnv: false,
    reject: false,
  } as const;
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...args], options);
  return { exitCode, stdout, stderr };
}

describe('bulkhead', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(await bulkhead(['--version'])).toEqual({ exitCode: 0, stdout: version, stderr: '' });
  });

  it('explains itself', async () => {
    const { exitCode, stdout } = await bulkhead(['serve', '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('--data-dir');
  });

  it('has no other commands', async () => {
    expect((await bulkhead(['frobnicate'])).exitCode).toBe(1);
    expect((await bulkhead([])).exitCode).toBe(1);
  });

  it('refuses settings before the command, which would be lost there', async () => {
    for (const args of [['--http-port=81', 'config'], ['--http-port', '81', 'config']]) {
      expect(await bulkhead(args)).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: 'bulkhead: flags come after the command, as in: bulkhead serve --http-port=8080',
      });
    }
  });

  it('config prints the file’s, the environment’s and the flags’ values with their sources', async () => {
    await writeFile(join(cwd, 'bulkhead.config.yaml'), 'http:\n  port: 81\nauth:\n  issuer: me\n');
    const { exitCode, stdout } = await bulkhead(['config', '--json', '--set', 'api.workers=2'], {
      BULKHEAD_HTTP__PORT: '82',
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      'auth.issuer': { value: 'me', source: join(cwd, 'bulkhead.config.yaml') },
      'http.port': { value: 82, source: 'environment BULKHEAD_HTTP__PORT' },
      'api.workers': { value: 2, source: 'flag --set api.workers' },
      'http.host': { value: '127.0.0.1', source: 'default' },
    });
  });

  it.each([
    [['serve'], { BULKHEAD_HTTP__PROT: '1' }, 'bulkhead: unknown setting BULKHEAD_HTTP__PROT (environment)'],
    [
      ['serve', '--http-port', 'x'],
      {},
      'bulkhead: http.port must be an integer from 0 to 65535 (flag --http-port)',
    ],
    [['serve', '--data-dir', '/dev/null/data'], {}, 'bulkhead: data_dir /dev/null/data cannot be made: '],
    [['serve', '--data-dir', '/proc/data'], {}, 'bulkhead: data_dir /proc/data cannot be made: '],
  ])('%o with %o stops with one line', async (args, env, line) => {
    const { exitCode, stdout, stderr } = await bulkhead(args, env);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr).not.toContain('\n');
  });
});
