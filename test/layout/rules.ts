// The rules of the project's layout, as functions from source files to complaints.
import { lineOf, type Source, type SyntaxNode, walk } from './sources.ts';

/** vitest itself asks for the default exports of these. */
const readByVitest = new Set(['vitest.config.ts', 'test/harness/global-setup.ts']);

/** What a package exports is listed in one place. */
export const packageEntries = new Set(['api/client/main.ts']);

const maxFiles = 16;

/** Flat folders whose files are a list of like things, which no further folder would make easier to find. */
const lists = new Set(['api/routes', 'supervisor', 'supervisor/commands', 'supervisor/hooks', 'hook-runner']);

/** Folders with more files at their top than a reader takes in: the story stays on top, its parts go below. */
export function folderErrors(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([folder, count]) => count > maxFiles && !lists.has(folder))
    .map(([folder, count]) => `${folder}: ${count} files (at most ${maxFiles}; parts go into folders below)`);
}

const forbiddenNames = /(^|[/-])(utils?|helpers?|common|libs?|managers?|misc)([/.-]|$)/;

/** Names, first lines, exports and sizes. */
export function fileErrors(source: Source): string[] {
  const { path, text, exports } = source;
  const lines = text.split('\n');
  const errors: string[] = [];
  if (forbiddenNames.test(path)) errors.push('its name says nothing');
  if (!/^\/\/ \S/.test(lines[lines[0]?.startsWith('#!') ? 1 : 0] ?? '')) {
    errors.push('the first line must say what lives here');
  }
  if (lines.length - 1 > 250) errors.push(`${lines.length - 1} lines (at most 250)`);
  if (exports.some(({ isDefault }) => isDefault) && !readByVitest.has(path)) {
    errors.push('a default export');
  }
  if (exports.some(({ isFrom }) => isFrom) && !packageEntries.has(path)) {
    errors.push('a re-export; import from where it lives');
  }
  return errors.map((error) => `${path}: ${error}`);
}

/** Exported names without a doc comment right before them. */
export function docErrors({ path, text, exports, docs }: Source): string[] {
  return exports
    .filter(({ start, isFrom, isDefault }) =>
      !isFrom && !isDefault && !docs.some((end) => end <= start && text.slice(end, start).trim() === '')
    )
    .map(({ start }) => `${path}:${lineOf(text, start)}: an exported name without a doc comment`);
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** Where functions are lists of cases. */
function isSuite(path: string): boolean {
  return /\.(test|contract)\.ts$/.test(path);
}

/** Functions that are too long or take too many parameters. */
export function functionErrors({ path, text, program }: Source): string[] {
  const errors: string[] = [];
  walk(program, (node) => {
    if (!functionTypes.has(node.type)) return;
    const first = lineOf(text, node.start);
    const length = lineOf(text, node.end) - first + 1;
    if (length > 50 && !isSuite(path)) {
      errors.push(`${path}:${first}: a function of ${length} lines (at most 50)`);
    }
    const { params } = node;
    const count = Array.isArray(params) ? params.length : 0;
    if (count > 4) {
      errors.push(`${path}:${first}: a function with ${count} parameters (at most 4, then an object)`);
    }
  });
  return errors;
}

const sqlStart = [
  /^\s*(select|grant|revoke|truncate|notify|listen)\s/,
  /^\s*(insert into|delete from|set local)\s/,
  /^\s*update\s+\S+\s+set\s/,
  /^\s*with\s+\S+\s+as\s*\(/,
  /^\s*(create|alter|drop)\s+(table|role|user|database|schema|index|view|function|extension)\s/,
];

/** Prose begins with one capital; SQL is written small or its keywords in capitals. */
function isSql(text: string): boolean {
  const shouted = /^\s*[A-Z]{4,}\s/.test(text);
  return sqlStart.some((start) => start.test(shouted ? text.toLowerCase() : text));
}

/** SQL text and `sql` templates outside storage/. */
export function sqlErrors({ path, text, program }: Source): string[] {
  const errors: string[] = [];
  const complain = (node: SyntaxNode) =>
    errors.push(`${path}:${lineOf(text, node.start)}: SQL belongs in storage/`);
  walk(program, (node) => {
    if (node.type === 'TaggedTemplateExpression' && isNamed(node.tag, 'sql')) complain(node);
    else if (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')) {
      const content = text.slice(node.start + 1, node.end - 1);
      if (isSql(content)) complain(node);
    }
  });
  return errors;
}

function isNamed(node: unknown, name: string): boolean {
  return typeof node === 'object' && node !== null && 'name' in node && node.name === name;
}

const environment = /^(globalThis\s*\.\s*)?process\s*\??(\.\s*env|\.?\[['"]env['"]\])$/;

/** Reads of the environment, written in any of the usual ways. */
export function environmentErrors({ path, text, program, imports }: Source): string[] {
  const errors = imports.some(({ specifier }) => specifier === 'node:process')
    ? [`${path}: imports node:process; the global one is watched`]
    : [];
  walk(program, (node) => {
    const destructured = node.type === 'VariableDeclarator' && isNamed(node.init, 'process');
    const read = node.type === 'MemberExpression' && environment.test(text.slice(node.start, node.end));
    if (destructured || read) errors.push(`${path}:${lineOf(text, node.start)}: reads the environment`);
  });
  return errors;
}

const fieldKind = /\bkind\s*[!=]==\s*'(?:relation|file|datetime)'/g;

/** Tests for one kind of field by its name: what differs between kinds is a member of `Kind`. */
export function fieldKindErrors({ path, text }: Source): string[] {
  return [...text.matchAll(fieldKind)].map(({ 0: found, index }) =>
    `${path}:${lineOf(text, index)}: ${found}; ask the table of kinds`
  );
}

/** Variables of a module that can change: state that no caller sees. */
export function moduleStateErrors({ path, text, program }: Source): string[] {
  const { body } = program;
  const statements: SyntaxNode[] = Array.isArray(body) ? body : [];
  return statements
    .map((node) => (node.type === 'ExportNamedDeclaration' ? node.declaration as SyntaxNode | null : node))
    .filter((node) => node?.type === 'VariableDeclaration' && node.kind !== 'const')
    .map((node) => `${path}:${lineOf(text, node?.start ?? 0)}: a module-level variable that can change`);
}

/** An async function that returns a fragment of postgres.js runs it, so SQL is built synchronously. */
export function asyncErrors({ path, text, program }: Source): string[] {
  const errors: string[] = [];
  walk(program, (node) => {
    if (functionTypes.has(node.type) && node.async === true) {
      errors.push(`${path}:${lineOf(text, node.start)}: an async function where SQL is built`);
    }
  });
  return errors;
}
