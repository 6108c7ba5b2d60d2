// The how-to page on hooks, followed from an empty server: a hook is written, watched, broken, and its errors read.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completionsAt, underlinedIn } from '../harness/editor.ts';
import { codesIn, follow } from '../harness/documentation-page.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Files that use each other as the server lets them, each a module; the last has what hooks lack. */
const more = {
  'words.ts':
    'const limit = await Promise.resolve(9);\nexport const cut = (text: string) => text.slice(0, limit);\n',
  'uses.ts':
    "import { cut } from './words.ts';\nconst limit = cut('a');\nconsole.log(limit, import.meta.url);\n",
  'wrong.ts': 'window;\nlocalStorage;\nprocess;\n',
};

it('docs/how-to/hooks.md leads to what it shows, and to an editor that completes the names of fields', async () => {
  const offered: Record<string, string[]> = {};
  let underlined: string[] = [];
  const look = async (home: string) => {
    const folder = join(home, 'shop-hooks');
    const text = await readFile(join(folder, 'slug.ts'), 'utf8');
    for (const after of ['e.record.fields.', '$app.records.', 'page.']) {
      offered[after] = await completionsAt({ folder, file: 'slug.ts', text, after });
    }
    for (const [file, text] of Object.entries(more)) await writeFile(join(folder, file), text);
    underlined = underlinedIn(folder);
    for (const file of Object.keys(more)) await rm(join(folder, file));
  };
  const output = await follow('docs/how-to/hooks.md', { server, look });
  expect(codesIn(output)).toEqual(['no_post', 'hook_error', 'hook_veto']);
  expect(offered['e.record.fields.']?.sort()).toEqual(['slug', 'title']);
  expect(offered['$app.records.']).toEqual(expect.arrayContaining(['create', 'findOne', 'list']));
  expect(underlined.map((line) => line.split(':')[0])).toEqual([
    'broken.ts(3,23)',
    'wrong.ts(1,1)',
    'wrong.ts(2,1)',
    'wrong.ts(3,1)',
  ]);
  expect(offered['page.']).toEqual(expect.arrayContaining(['items', 'total_items']));
});
