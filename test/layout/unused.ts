// Exports that nobody imports.
import { packageEntries } from './rules.ts';
import type { Source } from './sources.ts';

/** Imported by programs that tests hold as texts. */
const elsewhere = ['hook-runner/channel.ts: frameReader'];

/** Functions and constants that a file exports and no other imports. Types, and so classes, may be there to be read. */
export function unusedExports(sources: readonly Source[]): string[] {
  const used = new Set(
    sources.flatMap(({ imports }) => imports)
      .flatMap(({ file, names }) => names.map((name) => `${file}: ${name}`)),
  );
  return sources.filter(({ path }) => !used.has(`${path}: *`) && !packageEntries.has(path))
    .flatMap(({ path, exports }) => exports.flatMap(({ values }) => values.map((name) => `${path}: ${name}`)))
    .filter((name) => !used.has(name) && !elsewhere.includes(name));
}
