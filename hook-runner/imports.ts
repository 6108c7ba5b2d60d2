// Resolves the imports between the app's files, and refuses all others.
import { fileNameAt, fileUrl, urlPrefix } from './addresses.ts';
import type { SourcePosition } from './faults.ts';
import type { SourceFile } from './protocol.ts';
import { safeMap } from './untampered.ts';

/** The start of the URL of a module that only throws why an import was refused. No file's URL contains a `?`. */
const refusedPrefix = `${urlPrefix}?refused=`;

/** A path in quotes that may be the specifier of an import. */
const quotedPath = /(['"])\.\/([^'"\n]+)\1/g;

/** One import as it was written. `to` is a file of the app, or null when the import is refused. */
interface Import {
  readonly specifier: string;
  readonly to: string | null;
  readonly refusal: string | null;
}

/**
 * Names of the files in an order in which each comes after those that it imports, as far as a look at its text shows; else in
 * the order in which they are given.
 */
export function importedFirst(files: readonly SourceFile[]): string[] {
  const sources = safeMap<string, string>();
  for (const { file, source } of files) sources.set(file, source);
  const seen = new Set<string>();
  const order: string[] = [];
  const visit = (file: string) => {
    const source = sources.get(file);
    if (source === undefined || seen.has(file)) return;
    seen.add(file);
    for (const [, , specified = ''] of source.matchAll(quotedPath)) visit(specified);
    order.push(file);
  };
  for (const { file } of files) visit(file);
  return order;
}

/** Resolves the specifiers of the app's files and records the imports, so that failures can be explained. */
export class Imports {
  readonly #sources: Map<string, string>;
  readonly #imports = safeMap<string, Import[]>();

  /** `sources` maps the app's file names to their texts. */
  constructor(sources: Map<string, string>) {
    this.#sources = sources;
  }

  /** The URL of a specifier in the module at `parentUrl`. A refused import gets the URL of a module that throws the reason. */
  resolve(specifier: string, parentUrl: string | undefined): string {
    if (specifier.startsWith(refusedPrefix)) return specifier;
    const from = parentUrl === undefined ? null : fileNameAt(parentUrl);
    const to = this.#resolveFile(specifier, parentUrl);
    const known = to !== null && this.#sources.has(to);
    const refusal = known ? null : this.#refusal(specifier, to);
    if (from !== null) this.#record(from, { specifier, to: known ? to : null, refusal });
    return refusal === null && to !== null
      ? fileUrl(to)
      : `${refusedPrefix}${encodeURIComponent(refusal ?? '')}`;
  }

  /** The reason for which the module at `url` was refused; null for a file of the app. */
  refusalAt(url: string): string | null {
    return url.startsWith(refusedPrefix) ? decodeURIComponent(url.slice(refusedPrefix.length)) : null;
  }

  /** Finds the refused import that made `file` fail with this message. */
  findRefusedImport(file: string, message: string): { refusal: string; at: SourcePosition } | null {
    for (const { specifier, refusal } of this.#importsOf(file)) {
      if (refusal === null) continue;
      // A module that throws the reason exports nothing, which fails named imports before its code runs.
      if (!message.endsWith(refusal) && !message.includes(`requested module '${specifier}'`)) continue;
      return { refusal, at: this.#findSpecifier(file, specifier) };
    }
    return null;
  }

  /** The first import of `file` that is one of the `failed` files. */
  findFailedImport(file: string, failed: ReadonlySet<string>): { import: string; at: SourcePosition } | null {
    for (const { specifier, to } of this.#importsOf(file)) {
      if (to === null || to === file) continue;
      if (failed.has(to)) return { import: to, at: this.#findSpecifier(file, specifier) };
    }
    return null;
  }

  /** A cycle of imports that `file` is part of: `a.ts → b.ts → a.ts`. Null when there is none. */
  findCycle(file: string): string | null {
    const trail = (at: string, seen: readonly string[]): readonly string[] | null => {
      for (const { to } of this.#importsOf(at)) {
        if (to === file) return [...seen, at, file];
        if (to === null || seen.includes(to) || to === at) continue;
        const found = trail(to, [...seen, at]);
        if (found !== null) return found;
      }
      return null;
    };
    return trail(file, [])?.join(' → ') ?? null;
  }

  #importsOf(file: string): readonly Import[] {
    return this.#imports.get(file) ?? [];
  }

  #record(from: string, one: Import): void {
    const imports = this.#imports.get(from) ?? [];
    imports[imports.length] = one;
    this.#imports.set(from, imports);
  }

  #resolveFile(specifier: string, parentUrl: string | undefined): string | null {
    if (!/^\.{0,2}\//.test(specifier) && !specifier.startsWith(urlPrefix)) return null;
    try {
      return fileNameAt(new URL(specifier, parentUrl).href);
    } catch {
      return null; // not a URL
    }
  }

  #refusal(specifier: string, to: string | null): string {
    const wanted = `cannot import ${JSON.stringify(specifier)}`;
    if (to === null) {
      return `${wanted}: hook files import each other as "./name.ts", and nothing else`;
    }
    // A type checker that compiles to other files would have "./name.js" for name.ts.
    const stem = to.replace(/\.[jt]s$/, '');
    const near = [`${to}.ts`, `${to}.js`, `${stem}.ts`, `${stem}.js`].find((name) => this.#sources.has(name));
    return near === undefined
      ? `${wanted}: the app has no file ${JSON.stringify(to)}${
        stem === to ? ', and all end in .ts or .js' : ''
      }`
      : `${wanted}: write the whole name, "./${near}"`;
  }

  /** The character at a position of a file. */
  characterAt({ file, line, column }: SourcePosition): string | undefined {
    return this.#sources.get(file)?.split('\n')[(line ?? 0) - 1]?.[(column ?? 0) - 1];
  }

  /** The position of a specifier in the text, found by searching for it in quotes. */
  #findSpecifier(file: string, specifier: string): SourcePosition {
    const source = this.#sources.get(file) ?? '';
    const at = ["'", '"', '`'].map((quote) => source.indexOf(`${quote}${specifier}${quote}`)).find((index) =>
      index >= 0
    );
    if (at === undefined) return { file, line: null, column: null };
    const before = source.slice(0, at);
    return { file, line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
  }
}
