// The program as an operator meets it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bulkhead } from '../harness/command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let cwd = '';
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'bulkhead-cli-'));
});
afterEach(() => rm(cwd, { recursive: true }));

const run = (args: string[], env: Record<string, string> = {}) => bulkhead(args, { cwd, env });

describe('bulkhead', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(await run(['--version'])).toEqual({ exitCode: 0, stdout: version, stderr: '' });
  });

  it('explains itself', async () => {
    const { exitCode, stdout } = await run(['serve', '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('--data-dir');
  });

  it.each(['serve', 'admin', 'admin password', 'audit verify'])(
    'names %s as it is called',
    async (command) => {
      const { stdout } = await run([...command.split(' '), '--help'], { NO_COLOR: '1' });
      expect(stdout).toMatch(new RegExp(`^USAGE bulkhead ${command} `, 'm'));
    },
  );

  it('has no other commands', async () => {
    expect((await run(['frobnicate'])).exitCode).toBe(1);
    expect((await run([])).exitCode).toBe(1);
  });

  it('refuses settings before the command, which would be lost there', async () => {
    for (const args of [['--http-port=81', 'config'], ['--http-port', '81', 'config']]) {
      expect(await run(args)).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: 'bulkhead: flags come after the command, as in: bulkhead serve --http-port=8080',
      });
    }
  });

  it('config prints the file’s, the environment’s and the flags’ values with their sources', async () => {
    await writeFile(join(cwd, 'bulkhead.config.yaml'), 'http:\n  port: 81\nauth:\n  issuer: me\n');
    const { exitCode, stdout } = await run(['config', '--json', '--set', 'api.workers=2'], {
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
    const { exitCode, stdout, stderr } = await run(args, env);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr).not.toContain('\n');
  });
});
