// The architecture as a test: who imports whom, what lives where, how large things may grow.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as imports from './layout/imports.ts';
import { recordErrors, unknownStatements } from './layout/records.ts';
import * as rules from './layout/rules.ts';
import { readSources } from './layout/sources.ts';
import { unusedExports } from './layout/unused.ts';
import { sharedNames, wordErrors } from './layout/words.ts';

const sources = readSources();
const read = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', path), 'utf8'));
const manifest = read('package.json');
const production = sources.filter(({ path }) => !imports.isTest(path));

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

  it('uses the words of the glossary in names of files and of exported things', () => {
    expect(production.flatMap(wordErrors)).toEqual([]);
  });

  it.each([['api/', 'storage/'], ['api/client/'], ['hook-runner/'], ['supervisor/']])(
    'has one name for one thing in %s',
    (...areas) => {
      const isClient = areas.includes('api/client/');
      const inside = production.filter(({ path }) =>
        areas.some((area) => path.startsWith(area)) && path.startsWith('api/client/') === isClient
      );
      expect(sharedNames(inside)).toEqual([]);
    },
  );

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
