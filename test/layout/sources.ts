// The project's source files, read and parsed once, as the layout test looks at them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Any node of a syntax tree (https://github.com/estree/estree). */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

/** One import, with the file or package that it names. */
export interface Import {
  /** As written. */
  specifier: string;
  /** The project's file it points to, or undefined for a package or a Node module. */
  file: string | undefined;
  isTypeOnly: boolean;
  /** The exported names that it takes; `*` stands for all. */
  names: string[];
}

/** One source file. */
export interface Source {
  /** From the root of the project, with `/`. */
  path: string;
  text: string;
  imports: Import[];
  program: SyntaxNode;
  exports: {
    start: number;
    isDefault: boolean;
    isFrom: boolean;
    /** Names of functions and constants. */
    values: string[];
  }[];
  /** Where doc comments end. */
  docs: number[];
}

const root = join(import.meta.dirname, '../..');
const folders = ['supervisor', 'hook-runner', 'api', 'storage', 'test'];

/** Reads every `.ts` file of the project. */
export function readSources(): Source[] {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  return [...present.flatMap(filesOf), 'vitest.config.ts'].map((path) =>
    parse(path, readFileSync(join(root, path), 'utf8'))
  );
}

function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => posix.join(entry.parentPath.slice(root.length + 1), entry.name))
    .sort();
}

/** What a literal says; anything else as it is written. */
function unquoted(written: string): string {
  return /^(['"`]).*\1$/.test(written) ? written.slice(1, -1) : written;
}

/** Parses one file. Throws `SyntaxError` when it cannot be parsed. */
export function parse(path: string, text: string): Source {
  const { module, program, comments, errors } = parseSync(path, text);
  const [failure] = errors;
  if (failure !== undefined) throw new SyntaxError(`${path}: ${failure.message}`);
  const written = module.staticImports.map(({ moduleRequest, entries }) => ({
    specifier: moduleRequest.value,
    isTypeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    names: entries.map(({ importName }) => importName.name ?? '*'),
  }));
  const passedOn = module.staticExports.flatMap(({ entries }) => entries).flatMap((entry) =>
    entry.moduleRequest === null ? [] : [{
      specifier: entry.moduleRequest.value,
      isTypeOnly: entry.isType,
      names: [entry.importName.name ?? '*'],
    }]
  );
  const computed = module.dynamicImports.map(({ moduleRequest }) => ({
    specifier: unquoted(text.slice(moduleRequest.start, moduleRequest.end)),
    isTypeOnly: false,
    names: ['*'],
  }));
  return {
    path,
    text,
    imports: [...written, ...passedOn, ...computed].map((one) => ({
      ...one,
      file: fileOf(path, one.specifier),
    })),
    program: program as unknown as SyntaxNode,
    exports: module.staticExports.map(({ start, entries }) => ({
      start,
      isDefault: entries.some(({ exportName }) => exportName.kind === 'Default'),
      isFrom: entries.some(({ moduleRequest }) => moduleRequest !== null),
      values: /^export (default|(abstract )?class) /.test(text.slice(start))
        ? []
        : entries.flatMap(({ isType, exportName }) => isType ? [] : exportName.name ?? []),
    })),
    docs: comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*')).map(({ end }) =>
      end
    ),
  };
}

function fileOf(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined;
}

/** Calls `visit` for a node and everything in it. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit);
    }
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The line of a position, from 1. */
export function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}
