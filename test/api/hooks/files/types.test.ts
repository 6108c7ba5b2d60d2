// GET …/hooks/types: the declarations of an app, as the TypeScript compiler reads them in the author's folder.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnApp } from '../../../harness/api.ts';
import { underlinedIn } from '../../../harness/editor.ts';
import { scenario } from '../../../harness/scenario.ts';

let app: OwnApp;
let folder: string;
beforeAll(async () => {
  ({ app } = await scenario({ collections: { posts: [{ name: 'title', kind: 'text' }] } }));
  folder = await mkdtemp(join(tmpdir(), 'served-types-'));
  // That of docs/how-to/hooks.md.
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'esnext', lib: ['esnext', 'webworker'], types: [] },
    ...{ moduleDetection: 'force', allowImportingTsExtensions: true },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
});
afterAll(() => rm(folder, { recursive: true }));

/** What the compiler says of a hook file of the app as it is now: one line each. */
async function compile(source: string): Promise<string[]> {
  await writeFile(join(folder, 'hooks.d.ts'), (await app.admin.get(`${app.path}/hooks/types`)).text);
  await writeFile(join(folder, 'a.ts'), source);
  return underlinedIn(folder).filter((line) => line.startsWith('a.ts'));
}

describe('the declarations of an app', () => {
  it('know its collections, the users and no others', async () => {
    const source = `onRecordBeforeCreate('posts', (e) => { e.record.fields.title = 'x'; });
onRecordAfterCreate('post', () => {});
export const user = await $app.records.findOne('users', 'x');
export const found = await $app.records.findOne('psots', 'x');
await $app.realtime.publish('prosts', 'changed', {});
export const total = await $app.records.count('tags');
`;
    const lines = await compile(source);
    expect(lines.map((line) => /^a\.ts\((\d+),/.exec(line)?.[1])).toEqual(['2', '4', '5', '6']);
    expect(lines[0]).toContain('"post"');
    const schema = { id: 'tags', kind: 'base', fields: [] };
    expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
    expect((await compile(source)).map((line) => /^a\.ts\((\d+),/.exec(line)?.[1])).toEqual(['2', '4', '5']);
  });
});
