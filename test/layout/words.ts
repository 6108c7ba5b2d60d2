// The rules of names: the words of the glossary, and one name for one thing.
import type { Source, SyntaxNode } from './sources.ts';

/** Words that the glossary (docs/explanation/glossary.md) has others for, in names of files and of exported things. */
const refused = new Set(
  ('answer answers answered answering reply arrival landing door turnstile turns crowd party lane lanes desk seats ' +
    'remembered shelf ledger stamp extent basis herald hear hearing heed ear errand ' +
    'departure leaver farewell goodbye gone settled wish granted wanted stragglers courier ' +
    'pulse trial suspects guilty forgive look looks glance sight pour piece patience ' +
    'most longest maximal mended milliseconds').split(' '),
);

/** Names of a file and of what it exports in which such a word stands. */
export function wordErrors(source: Source): string[] {
  const file = source.path.slice(source.path.lastIndexOf('/') + 1).replace(/(\.d)?\.ts$/, '');
  return [file, ...exportedNames(source)].flatMap((name) => {
    const word = wordsOf(name).find((each) => refused.has(each));
    return word === undefined ? [] : [`${source.path}: ${name}: the glossary has another word for "${word}"`];
  });
}

/** Names that two files export for different things, each with those files. */
export function sharedNames(sources: readonly Source[]): string[] {
  const homes = new Map<string, string[]>();
  for (const source of sources) {
    for (const name of exportedNames(source)) homes.set(name, [...homes.get(name) ?? [], source.path]);
  }
  return [...homes].filter(([, paths]) => paths.length > 1).map(([name, paths]) =>
    `${name}: ${paths.join(', ')}`
  );
}

function wordsOf(name: string): string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z0-9]+/);
}

function exportedNames({ program }: Source): string[] {
  const { body } = program;
  const statements: SyntaxNode[] = Array.isArray(body) ? body : [];
  return [
    ...new Set(statements.flatMap((statement) => {
      const { declaration } = statement;
      if (statement.type !== 'ExportNamedDeclaration' || !isNode(declaration)) return [];
      const declared = Array.isArray(declaration.declarations) ? declaration.declarations : [declaration];
      return declared.flatMap(({ id }) => isNode(id) && typeof id.name === 'string' ? [id.name] : []);
    })),
  ];
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
