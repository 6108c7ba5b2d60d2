// docs/reference/command-line.md: its commands print what the page shows, and all commands have a row there.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bulkhead } from '../../harness/command.ts';
import { codesIn, follow } from '../../harness/documentation-page.ts';
import { startServer, type TestServer } from '../../harness/server.ts';

const page = 'docs/reference/command-line.md';
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

it('can be followed', async () => {
  expect(codesIn(await follow(page, { server }))).toEqual(['app_not_found']);
});

it('names every command', async () => {
  const text = await readFile(join(import.meta.dirname, '../../..', page), 'utf8');
  const { stdout } = await bulkhead(['--help'], { env: { NO_COLOR: '1' } });
  const names = [...stdout.matchAll(/^ +([\w-]+) {4}/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !new RegExp(`\`${name}[ \`]`).test(text))).toEqual([]);
});
