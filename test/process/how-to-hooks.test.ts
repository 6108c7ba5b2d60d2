// The how-to page on hooks, followed from an empty server: a hook is written with completion, watched, broken, and its errors read.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completionsAt } from '../harness/editor.ts';
import { codesIn, follow } from '../harness/documentation-page.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

it('docs/how-to/hooks.md leads to what it shows, and to an editor that completes the names of fields', async () => {
  const offered: Record<string, string[]> = {};
  const look = async (home: string) => {
    const folder = join(home, 'shop-hooks');
    const text = await readFile(join(folder, 'slug.ts'), 'utf8');
    for (const after of ['e.record.fields.', '$app.records.', 'page.']) {
      offered[after] = await completionsAt({ folder, file: 'slug.ts', text, after });
    }
  };
  const output = await follow('docs/how-to/hooks.md', { server, look });
  expect(codesIn(output)).toEqual(['no_post', 'hook_error', 'hook_veto']);
  expect(offered['e.record.fields.']?.sort()).toEqual(['slug', 'title']);
  expect(offered['$app.records.']).toEqual(expect.arrayContaining(['create', 'findOne', 'list']));
  expect(offered['page.']).toEqual(expect.arrayContaining(['items', 'total_items']));
});
