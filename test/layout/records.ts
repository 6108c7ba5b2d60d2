// The one way to write records, and the seam of their cache, as a function from source files to complaints.
import { isTest } from './imports.ts';
import { lineOf, type Source, type SyntaxNode, walk } from './sources.ts';

const writer = 'api/records/write.ts';
/** Writes of many records, which are neither ordered nor announced one by one. */
const bulkWriter = 'api/records/transfer/bulk-write.ts';
const reader = 'api/records/read.ts';
/** The files that put the parts of a process together, or list them. */
const builders = ['api/deps.ts', 'api/records/build.ts'];

/** The statements that write records, and what announces them, by the file that has them: only `write.ts` takes them. */
const statements: Readonly<Record<string, readonly string[]>> = {
  'storage/app/records/records.ts': ['insertRecord', 'updateFields', 'deleteRecord'],
  'storage/app/records/related-records.ts': ['emptyRelation', 'deleteTogether'],
  'storage/app/records/versions.ts': ['updateVersion'],
  'api/records/announce.ts': ['announce'],
};

/** The same of many records, which only `bulk-write.ts` takes. */
const bulkStatements: Readonly<Record<string, readonly string[]>> = {
  'storage/app/records/bulk/insert-many.ts': ['insertMany', 'insertOne'],
};

/** Parts of the process, and the files that may name them. */
const parts: Readonly<Record<string, readonly string[]>> = {
  recordCache: [writer, bulkWriter, reader, ...builders],
  writeOrder: [writer, ...builders],
};

const cache = 'api/records/cache/';

/** Writes of records past `write.ts`, and uses of the cache of records by other files than `write.ts` and `read.ts`. */
export function recordErrors(source: Source): string[] {
  if (isTest(source.path)) return [];
  return [...takenStatements(source), ...cacheImports(source), ...namedParts(source)];
}

/** Statements that this rule watches under a name that their file does not export, so that a renaming would end the watch. */
export function unknownStatements(sources: readonly Source[]): string[] {
  return Object.entries({ ...statements, ...bulkStatements }).flatMap(([path, names]) => {
    const { exports = [] } = sources.find((source) => source.path === path) ?? {};
    const exported = new Set(exports.flatMap(({ values }) => values));
    return names.filter((name) => !exported.has(name)).map((name) => `${path} exports no ${name}`);
  });
}

function takenStatements({ path, imports }: Source): string[] {
  return imports
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .flatMap(({ file = '', names }) => {
      const forbidden = [
        ...(path === writer ? [] : statements[file] ?? []),
        ...(path === bulkWriter ? [] : bulkStatements[file] ?? []),
      ];
      return names.filter((name) => forbidden.includes(name) || name === '*' && forbidden.length > 0);
    })
    .map((name) => `${path}: takes ${name} past ${writer}`);
}

function cacheImports({ path, imports }: Source): string[] {
  if (path.startsWith(cache) || builders.includes(path)) return [];
  return imports
    .filter(({ file }) => file?.startsWith(cache))
    .map(({ specifier }) => `${path}: imports ${specifier}; the cache is behind api/records/ports.ts`);
}

function namedParts({ path, text, program }: Source): string[] {
  const errors: string[] = [];
  walk(program, (node) => {
    if (node.type === 'MemberExpression' && isQuotaOfWrites(node) && path !== writer && path !== bulkWriter) {
      errors.push(`${path}:${lineOf(text, node.start)}: counts a write past ${writer}`);
    }
    const name = node.type === 'Identifier' ? String(node['name']) : '';
    if (Object.hasOwn(parts, name) && parts[name]?.includes(path) === false) {
      errors.push(`${path}:${lineOf(text, node.start)}: names ${name}, which ${parts[name][0]} is for`);
    }
  });
  return errors;
}

/** True of `quotas.write` and `quotas.claim`, whoever owns the quotas. */
function isQuotaOfWrites({ object, property }: SyntaxNode): boolean {
  const owner = object as SyntaxNode;
  const name = owner.type === 'MemberExpression' ? owner['property'] : owner;
  return nameOf(name) === 'quotas' && ['write', 'claim'].includes(nameOf(property));
}

function nameOf(node: unknown): string {
  return typeof node === 'object' && node !== null && 'name' in node ? String(node.name) : '';
}
