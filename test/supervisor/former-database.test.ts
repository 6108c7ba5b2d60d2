// Whether a server begins anew where one has served before.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { resolveConfig } from '../../supervisor/config.ts';
import { checkFormerDatabase, markServed } from '../../supervisor/former-database.ts';
import { createOutput } from '../../supervisor/output.ts';

let dir: string;
let written: string[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bulkhead-former-'));
  written = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const output = createOutput({
  level: 'info',
  format: 'pretty',
  now: () => new Date(0),
  write: (text) => written.push(text),
});

const configOf = (...flags: readonly (readonly [string, string])[]) =>
  resolveConfig({
    file: undefined,
    env: {},
    flags: [['data_dir', dir] as const, ...flags].map(([key, text]) => ({ key, text, source: 'test' })),
    cwd: dir,
    terminal: false,
  }).config;

const external = ['database.url', 'postgres://bulkhead:secret@127.0.0.1/bulkhead'] as const;

it('is refused only without any database, where a server has served', async () => {
  checkFormerDatabase(configOf(), output);
  await markServed(configOf(), output);
  checkFormerDatabase(configOf(external), output);
  expect(() => checkFormerDatabase(configOf(), output)).toThrow(`data_dir ${dir} was in use`);
  await mkdir(join(dir, 'postgresql/data'), { recursive: true });
  checkFormerDatabase(configOf(), output);
  expect(written).toEqual([]);
});

it('is told of a database of its own that database.url leaves unused', async () => {
  await mkdir(join(dir, 'postgresql/data'), { recursive: true });
  checkFormerDatabase(configOf(external), output);
  expect(written).toEqual([
    expect.stringContaining(`${join(dir, 'postgresql/data')} is not used: database.url`),
  ]);
});

it('serves also when that cannot be remembered, and says so', async () => {
  await rm(dir, { recursive: true });
  await markServed(configOf(), output);
  expect(written).toEqual([expect.stringContaining(`${join(dir, 'served')} cannot be written: ENOENT`)]);
});
