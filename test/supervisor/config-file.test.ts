// The configuration file: in which languages it may be written, and when it is refused.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConfigInput, loadConfigFile, resolveConfig } from '../../supervisor/config.ts';
import { StartRefused } from '../../supervisor/start-refused.ts';

const resolveFile = (file: ConfigInput['file']) =>
  resolveConfig({ file, env: {}, flags: [], cwd: '/srv', terminal: false });

describe('the configuration file', () => {
  let cwd = '';
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'bulkhead-config-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(cwd, { recursive: true });
  });

  it.each([
    ['ts', 'const port: number = 99;\nexport default { http: { port } };\n'],
    ['js', 'export default { http: { port: 99 } };\n'],
    ['json', '{"http": {"port": 99}}'],
    ['yaml', 'http:\n  port: 99\n'],
    ['toml', '[http]\nport = 99\n'],
  ])('may end in .%s', async (extension, text) => {
    await writeFile(join(cwd, `bulkhead.config.${extension}`), text);
    const file = await loadConfigFile(cwd);
    expect(file?.path).toBe(join(cwd, `bulkhead.config.${extension}`));
    expect(resolveFile(file).config.http.port).toBe(99);
  });

  it.each(['ts', 'js'])(
    'leaves no copy of what it says behind, and takes none for it: .%s',
    async (extension) => {
      // Any user of the machine may read, and make beforehand, what is in the temporary directory.
      const temporary = join(cwd, 'temporary');
      await mkdir(temporary);
      vi.stubEnv('TMPDIR', temporary);
      await writeFile(join(cwd, `bulkhead.config.${extension}`), 'export default { http: { port: 99 } };\n');
      const file = await loadConfigFile(cwd);
      expect(resolveFile(file).config.http.port).toBe(99);
      expect(await readdir(temporary)).toEqual([]);
    },
  );

  it('need not be there', async () => {
    expect(await loadConfigFile(cwd)).toBeUndefined();
  });

  it('may be all comments', async () => {
    await writeFile(join(cwd, 'bulkhead.config.yaml'), '# http:\n#   port: 99\n\n');
    expect(resolveFile(await loadConfigFile(cwd)).config.http.port).toBe(8080);
  });

  it('is refused in one line that names it when it cannot be read', async () => {
    await writeFile(join(cwd, 'bulkhead.config.json'), '{"http": ');
    const error = await loadConfigFile(cwd).catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(StartRefused);
    expect(String(error)).toMatch(/^StartRefused: \S+bulkhead\.config\.json cannot be read: .+$/);
  });

  it.each([
    ['json', 'null'],
    ['json', '5'],
    ['json', '"text"'],
    ['json', '[]'],
    ['yaml', 'null\n'],
    ['yaml', 'text\n'],
    ['ts', 'export default null;\n'],
    ['ts', 'export default 5;\n'],
    ['js', 'export default () => null;\n'],
  ])('is refused when it holds no settings: .%s, %j', async (extension, text) => {
    await writeFile(join(cwd, `bulkhead.config.${extension}`), text);
    const path = join(cwd, `bulkhead.config.${extension}`);
    await expect((async () => resolveFile(await loadConfigFile(cwd)))())
      .rejects.toThrow(new StartRefused(`the configuration must be an object of settings (${path})`));
  });

  it.each(['ts', 'js'])('says what its own code threw: .%s', async (extension) => {
    await writeFile(
      join(cwd, `bulkhead.config.${extension}`),
      'const none = null;\nexport default { data_dir: none.x };',
    );
    await expect(loadConfigFile(cwd)).rejects.toThrow(
      "cannot be read: Cannot read properties of null (reading 'x')",
    );
  });

  it.each(['yml', 'json5', 'mjs'])('is not passed over for its ending: .%s', async (extension) => {
    await writeFile(join(cwd, `bulkhead.config.${extension}`), '{}');
    await expect(loadConfigFile(cwd)).rejects.toThrow(
      `bulkhead.config.${extension} is none of bulkhead.config.{ts,js,json,yaml,toml}: name it otherwise`,
    );
  });

  it('is refused when there are two', async () => {
    await writeFile(join(cwd, 'bulkhead.config.json'), '{}');
    await writeFile(join(cwd, 'bulkhead.config.yaml'), '{}');
    await expect(loadConfigFile(cwd)).rejects.toThrow(/two configuration files/);
  });
});
