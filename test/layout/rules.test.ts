// What the rules of the layout refuse and admit.
import { describe, expect, it } from 'vitest';
import * as imports from './imports.ts';
import * as rules from './rules.ts';
import { recordErrors, unknownStatements } from './records.ts';
import { parse, readSources } from './sources.ts';
import { unusedExports } from './unused.ts';
import { sharedNames, wordErrors } from './words.ts';

/** What a rule says of one file with this text. */
function judge<Complaint>(
  rule: (source: ReturnType<typeof parse>) => Complaint,
  path: string,
  text: string,
): Complaint {
  return rule(parse(path, text));
}

describe('the rules themselves', () => {
  const head = '// A file.\n';

  it.each([
    ['storage/x.ts', "import { a } from '../api/errors.ts';"],
    ['supervisor/x.ts', "import { a } from '../storage/sql/ids.ts';"],
    ['hook-runner/x.ts', "import { a } from '../api/errors.ts';"],
    ['api/scope.ts', "import { a } from '../supervisor/protocol.ts';"],
    ['api/records/create.ts', "import { a } from '../routes/records.ts';"],
    ['api/records/create.ts', "import { a } from '../pipeline/body.ts';"],
    ['api/records/create.ts', "import { H3 } from 'h3';"],
    ['api/records/create.ts', "import postgres from 'postgres';"],
    ['api/records/create.ts', "const x = await import('superstruct');"],
    ['api/routes/records.ts', "import { a } from '../app.ts';"],
    ['api/contract/route.ts', "import { a } from '../records/create.ts';"],
    ['api/auth/login/login.ts', "import { a } from '../../users/remove.ts';"],
    ['api/hooks/record-hooks.ts', "import { a } from '../records/create.ts';"],
    ['api/target.ts', "import { a } from './records/create.ts';"],
    ['storage/x.ts', "import a from 'lodash';"],
  ])('refuse in %s: %s', (path, line) => {
    expect(judge(imports.importErrors, path, head + line)).toHaveLength(1);
  });

  it.each([
    ['api/scope.ts', "import type { a } from '../supervisor/protocol.ts';"],
    ['api/hooks/record-hooks.ts', "import { a } from '../../hook-runner/events.ts';"],
    ['api/records/create.ts', "import { a } from '../../storage/ids.ts';"],
    ['api/routes/records.ts', "import { a } from '../records/create.ts';"],
    ['storage/x.ts', "import postgres from 'postgres';"],
    ['test/x.test.ts', "import postgres from 'postgres';"],
  ])('admit in %s: %s', (path, line) => {
    expect(judge(imports.importErrors, path, head + line)).toEqual([]);
  });

  it('see a package that is not installed', () => {
    const source = parse(
      'api/x.ts',
      "import type { a } from 'b'; import { c } from 'd/e'; import { f } from '@g/h/i';",
    );
    expect(imports.missingPackages(source, new Set())).toHaveLength(2);
    expect(imports.missingPackages(source, new Set(['d', '@g/h']))).toEqual([]);
  });

  it('see a ring', () => {
    const ring = [
      parse('api/a.ts', "import { b } from './b.ts';"),
      parse('api/b.ts', "import type { a } from './a.ts';"),
    ];
    expect(imports.importRings(ring)).toEqual(['api/a.ts → api/b.ts → api/a.ts']);
  });

  it('see a folder with too many files', () => {
    const files = (folder: string) => Array.from({ length: 17 }, (_, n) => `${folder}/${n}.ts`);
    expect(rules.folderErrors([...files('api/auth'), ...files('api/routes')])).toHaveLength(1);
  });

  it('see words that the glossary has others for, and a name of two things', () => {
    expect(judge(wordErrors, 'api/answer-text.ts', 'export const maxMs = 1;')).toHaveLength(1);
    expect(judge(wordErrors, 'api/x.ts', 'export const longestWait = 1, b = 2; export class TheDoor {}'))
      .toHaveLength(2);
    expect(judge(wordErrors, 'api/x.ts', 'export interface Response {} const answer = 1;')).toEqual([]);
    const files = ['api/a.ts', 'api/b.ts'].map((path) =>
      parse(path, 'export type A = 1; export function B() {}')
    );
    expect(sharedNames(files)).toEqual(['A: api/a.ts, api/b.ts', 'B: api/a.ts, api/b.ts']);
  });

  it('see an export that nobody imports', () => {
    const files = [
      parse('api/a.ts', 'export const a = 1; export function b() {} export interface C {}'),
      parse('api/d.ts', "import { a as e } from './a.ts'; export const f = e;"),
      parse('test/a.test.ts', "import * as d from '../api/d.ts';"),
    ];
    expect(unusedExports(files)).toEqual(['api/a.ts: b']);
  });

  it('see bad files, exports, functions and state', () => {
    expect(judge(rules.fileErrors, 'api/utils.ts', 'export default 1;')).toHaveLength(3);
    expect(judge(rules.fileErrors, 'api/x.ts', `${head}export * from './y.ts';`)).toHaveLength(1);
    expect(judge(rules.fileErrors, 'api/x.ts', head.repeat(251))).toHaveLength(1);
    expect(judge(rules.docErrors, 'api/x.ts', `${head}export const a = 1;`)).toHaveLength(1);
    expect(judge(rules.docErrors, 'api/x.ts', `${head}/** Doc. */\nexport const a = 1;`)).toEqual([]);
    expect(judge(rules.functionErrors, 'api/x.ts', `const f = () => {${'\n'.repeat(50)}};`)).toHaveLength(1);
    expect(judge(rules.functionErrors, 'api/x.ts', 'function f(a, b, c, d, e) {}')).toHaveLength(1);
    expect(judge(rules.moduleStateErrors, 'api/x.ts', 'let a = 1; export let b = 2; const c = 3;'))
      .toHaveLength(2);
    expect(judge(rules.fieldKindErrors, 'api/x.ts', "if (field.kind === 'file') f();")).toHaveLength(1);
    expect(judge(rules.asyncErrors, 'storage/app/filter/x.ts', 'const f = async () => 1;')).toHaveLength(1);
  });

  it.each([
    'const a = `select 1`;',
    "const a = 'SELECT id FROM t';",
    'const a = `\n  insert into t values (1)`;',
    "const a = 'update t set x = 1';",
    'const a = sql`anything`;',
  ])('see SQL in %s', (text) => {
    expect(judge(rules.sqlErrors, 'api/x.ts', text)).toHaveLength(1);
  });

  it.each([
    "const a = 'Select an app from the list';",
    "const a = 'update';",
    "const a = 'Delete from disk';",
  ])('see no SQL in %s', (text) => {
    expect(judge(rules.sqlErrors, 'api/x.ts', text)).toEqual([]);
  });

  it.each([
    "import { insertRecord } from '../../storage/app/records/records.ts';",
    "import { canReach, updateFields as update } from '../../storage/app/records/records.ts';",
    "import * as records from '../../storage/app/records/records.ts';",
    "const { deleteTogether } = await import('../../storage/app/records/related-records.ts');",
    "await deps.writeOrder.run(['a'], work);",
    'const { recordCache: cache } = deps;',
    "import type { WriteSet } from './cache/write-set.ts';",
    'const work = () => this.#deps.quotas.write(app, addition, work);',
  ])('see a way around the writing of records or their cache in %s', (text) => {
    expect(judge(recordErrors, 'api/records/create.ts', text)).toHaveLength(1);
  });

  it('see that a statement of records has another name by now', () => {
    const others = parse('storage/app/records/versions.ts', 'export function updateVersions() {}');
    expect(unknownStatements([...readSources().filter(({ path }) => path !== others.path), others]))
      .toHaveLength(
        1,
      );
  });

  it('see none where it is held together', () => {
    const text =
      "import { insertRecord } from '../../storage/app/records/records.ts'; deps.writeOrder.run(keys, write);";
    expect(judge(recordErrors, 'api/records/write.ts', text)).toEqual([]);
    expect(judge(recordErrors, 'api/records/read.ts', 'recordCache.find(target, id, read);')).toEqual([]);
    expect(judge(recordErrors, 'api/records/read.ts', 'deps.writeOrder.run(keys, write);')).toHaveLength(1);
  });

  it.each([
    "import { canReach } from '../../storage/app/records/records.ts';",
    "import type { insertRecord } from '../../storage/app/records/records.ts';",
    "import { updateRecord } from '../records/update.ts';",
    'deps.quotas.request(app);',
  ])('see no way around it in %s', (text) => {
    expect(judge(recordErrors, 'api/records/create.ts', text)).toEqual([]);
  });

  it.each([
    'process.env.X',
    "process['env']",
    'globalThis.process.env',
    'const { env } = process;',
    "import { env } from 'node:process';",
  ])('see the environment in %s', (text) => {
    expect(judge(rules.environmentErrors, 'api/x.ts', text)).toHaveLength(1);
  });
});
