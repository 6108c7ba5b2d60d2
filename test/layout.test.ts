// The architecture as a test: who imports whom, what lives where, how large things may grow.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as imports from './layout/imports.ts';
import { recordErrors, unknownStatements } from './layout/records.ts';
import * as rules from './layout/rules.ts';
import { parse, readSources } from './layout/sources.ts';
import { unusedExports } from './layout/unused.ts';

const sources = readSources();
const read = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', path), 'utf8'));
const manifest = read('package.json');
const production = sources.filter(({ path }) => !imports.isTest(path));

/** What a rule says of one file with this text. */
function judge<Complaint>(
  rule: (source: ReturnType<typeof parse>) => Complaint,
  path: string,
  text: string,
): Complaint {
  return rule(parse(path, text));
}

describe('the layout', () => {
  it('has imports only along the arrows, and each package only in its home', () => {
    expect(sources.flatMap(imports.importErrors)).toEqual([]);
  });

  it('imports no package that an installation without devDependencies lacks', () => {
    const installed = new Set(Object.keys(manifest.dependencies));
    expect(sources.flatMap((source) => imports.missingPackages(source, installed))).toEqual([]);
  });

  it('installs the programs that the server runs on without devDependencies', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining(['node', 'deno']));
  });

  it('has a lock file of the packages that package.json names', () => {
    const { packages } = read('package-lock.json');
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
      expect(packages[''][kind], kind).toEqual(manifest[kind]);
    }
  });

  it('has no ring of imports', () => {
    expect(imports.importRings(sources)).toEqual([]);
  });

  it('has files that say what they are, within 250 lines, without default exports and re-exports', () => {
    expect(sources.flatMap(rules.fileErrors)).toEqual([]);
  });

  it('has folders that a reader takes in at a glance', () => {
    expect(rules.folderErrors(production.map(({ path }) => path))).toEqual([]);
  });

  it('has a doc comment on every exported name', () => {
    expect(sources.flatMap(rules.docErrors)).toEqual([]);
  });

  it('exports no function and no constant that nobody imports', () => {
    expect(unusedExports(sources)).toEqual([]);
  });

  it('has functions of at most 50 lines and 4 parameters', () => {
    expect(sources.flatMap(rules.functionErrors)).toEqual([]);
  });

  it('has SQL text only in storage/ and migrations/', () => {
    const elsewhere = production.filter(({ path }) => !path.startsWith('storage/'));
    expect(elsewhere.flatMap(rules.sqlErrors)).toEqual([]);
  });

  it('reads the environment only in supervisor/config.ts', () => {
    const elsewhere = production.filter(({ path }) => path !== 'supervisor/config.ts');
    expect(elsewhere.flatMap(rules.environmentErrors)).toEqual([]);
  });

  it('names single kinds of field only in storage/app/fields/', () => {
    const elsewhere = production.filter(({ path }) => !path.startsWith('storage/app/fields/'));
    expect(elsewhere.flatMap(rules.fieldKindErrors)).toEqual([]);
  });

  it('has no module-level variable that can change', () => {
    expect(production.flatMap(rules.moduleStateErrors)).toEqual([]);
  });

  it('writes records in one way, and has their cache behind one seam', () => {
    expect(sources.flatMap(recordErrors)).toEqual([]);
    expect(unknownStatements(sources)).toEqual([]);
  });

  it('builds SQL of filters synchronously', () => {
    const filters = production.filter(({ path }) => path.startsWith('storage/app/filter/'));
    expect(filters.flatMap(rules.asyncErrors)).toEqual([]);
  });
});

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
    expect(unknownStatements([...sources.filter(({ path }) => path !== others.path), others])).toHaveLength(
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
