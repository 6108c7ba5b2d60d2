// Type errors of hook files, as a PUT answers them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk, type OwnApp } from '../../../harness/api.ts';
import { checkingServer, putChecked } from '../../../harness/checked-hook.ts';

let app: OwnApp;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ app, stop } = await checkingServer());
  const fields = [{ name: 'title', kind: 'text', required: true }, { name: 'count', kind: 'number' }];
  expectOk(
    await app.admin.post(`${app.path}/collections`, { schema: { id: 'posts', kind: 'base', fields } }),
  );
});
afterAll(() => stop());

async function put(filename: string, source: string): Promise<ApiResponse['body']> {
  return expectOk(await app.admin.put(`${app.path}/hooks/${filename}`, { source }));
}

describe('a hook file that is put', { timeout: 300_000 }, () => {
  it('is in effect in spite of type errors, which are answered with file, line and column', async () => {
    const source = `routerAdd('GET', '/live', () => 'live');
onRecordBeforeCreate('posts', (e) => {
  const count: number = e.record.fields.title;
  e.record.fields.nope = count;
});
`;
    const { reload, warnings } = await putChecked(app, 'typed.ts', source);
    expect(reload).toEqual({ loaded: ['typed.ts'], errors: [] });
    expect(warnings).toEqual([
      {
        file: 'typed.ts',
        message: "TS2322: Type 'string' is not assignable to type 'number'.",
        line: 3,
        column: 9,
      },
      { file: 'typed.ts', message: expect.stringMatching(/^TS2339: Property 'nope'/), line: 4, column: 19 },
    ]);
    // The log has them, too: of files on disk, nothing else would say so.
    const { items } = expectOk(await app.admin.get(`${app.path}/hooks/logs?per_page=200`));
    const { message } = warnings[0];
    const logged = { level: 'warn', file: 'typed.ts', message, fields: { line: 3, column: 9 } };
    expect(items).toContainEqual(expect.objectContaining(logged));
    expect((await app.admin.get(`${app.path}/custom/live`)).body).toBe('live');
    const mended = await putChecked(
      app,
      'typed.ts',
      source.replace('const count: number', 'const count').replace('nope', 'title'),
    );
    expect(mended.warnings).toEqual([]);
  });

  it('cannot have its imports read, nor quoted, from outside of the app', async () => {
    const source = `/// <reference path="/etc/passwd" />
import type { root } from '/etc/passwd';
import type { hidden } from '../../etc/hostname';
import type { far } from 'https://example.com/x.ts';
export const own: root | hidden | far | undefined = undefined;
`;
    const { warnings } = await putChecked(app, 'prying.ts', source);
    expect(JSON.stringify(warnings)).not.toContain('root:');
    expectOk(await app.admin.delete(`${app.path}/hooks/prying.ts`));
  });

  it.each(['npm:left-pad', 'jsr:@std/path', 'https://example.com/x.ts'])(
    'is warned that an import of %s, though of a type alone, leaves all types unchecked',
    async (from) => {
      const source = `import type { Far } from '${from}';\nexport const far: Far = 1;\n`;
      const { reload, warnings } = await putChecked(app, 'far.ts', source);
      expect(reload.errors).toEqual([]);
      const message = 'no types were checked: hook files import each other as "./name.ts", and nothing else';
      expect(warnings).toEqual([{ file: 'far.ts', message, line: 1, column: 26 }]);
      expectOk(await app.admin.delete(`${app.path}/hooks/far.ts`));
    },
  );

  it('answers when several are put at once: the newest is checked, and none waits for ever', async () => {
    const sources = ['one', 'two', 'three', 'four'].map((name) =>
      `export const ${name}: number = '${name}';\n`
    );
    const responses = await Promise.all(sources.map((source, index) => put(`many${index}.ts`, source)));
    for (const { warnings } of responses) expect(Array.isArray(warnings)).toBe(true);
    const last = await putChecked(app, 'many0.ts', 'export const fine = 1;\n');
    expect(last.warnings.map(({ file }: { file: string }) => file)).toEqual([
      'many1.ts',
      'many2.ts',
      'many3.ts',
    ]);
  });

  it('knows which fields an update may change from what they are', async () => {
    const modifying = `routerAdd('POST', '/more', async () => {
  await $app.records.update('posts', 'id', { 'count+': 1 });
  await $app.records.update('posts', 'id', { 'title+': 'x' });
});
`;
    const { warnings } = await putChecked(app, 'modifying.ts', modifying);
    const own = warnings.filter(({ file }: { file: string }) => file === 'modifying.ts');
    expect(own).toEqual([expect.objectContaining({ message: expect.stringContaining("'title+'"), line: 3 })]);
  });
});
