// The commands of the README and of the tutorial, run as a reader would run them, against a new server.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../harness/server.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});

afterEach(() => server.stop());

/** Everything that the `sh` blocks of a page print. Throws when a command fails. */
async function follow(page: string): Promise<string> {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map((
    [, text],
  ) => text);
  expect(blocks.length).toBeGreaterThan(2);
  const script = blocks.join('\n').replaceAll('http://127.0.0.1:8080', server.url);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    env: { PATH: process.env['PATH'] },
  });
  return stdout;
}

describe('the README', () => {
  it('leads from setup to a record and to hooks, with the one error that it shows', async () => {
    const output = await follow('README.md');
    const list = JSON.parse(/\{"items".*?"total_pages":\d+\}/.exec(output)?.[0] ?? 'null');
    expect(list).toMatchObject({
      items: [{ collection: 'orders', fields: { title: 'Tea', total: 12.5, paid: false } }],
      total_items: 1,
    });
    expect(codesIn(output)).toEqual(['hook_veto']);
    expect(output).toContain('too much at once');
    expect(output).toContain('{"hello":"you"}');
  });
});

/** The errors that were answered. */
function codesIn(output: string): (string | undefined)[] {
  return [...output.matchAll(/\{"code":"([a-z_]+)"/g)].map(([, code]) => code);
}

describe('the tutorial', () => {
  it('shows the errors that it speaks of, and no other', async () => {
    const output = await follow('docs/tutorial/first-backend.md');
    expect(codesIn(output)).toEqual(['uninitialized', 'forbidden', 'validation']);
    expect(output).toContain('{"initialized":false}');
    expect(output).toContain('colour: unknown field');
    expect(output).toContain('"action":"collection_update"');
  });
});
