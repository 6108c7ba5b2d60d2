// The rules of the project's layout, as functions from source files to complaints.
import { lineOf, type Source, type SyntaxNode, walk } from './sources.ts';

const ground = /^api\/[a-z-]+\.ts$/;
const feature = /^api\/(?!pipeline\/|routes\/)[a-z-]+\//;

/**
 * Where each package may be imported, besides tests. A package that is not here may not be imported at all, so that
 * exchanging one means editing one place.
 */
const homes: Readonly<Record<string, RegExp>> = {
  postgres: /^storage\//,
  superstruct: /^api\/schema\.ts$/,
  h3: /^api\/(main|app|route)\.ts$|^api\/pipeline\//,
  srvx: /^api\/(app|route)\.ts$|^api\/pipeline\//,
  listhen: /^api\/listen\.ts$/,
  jose: /^api\/auth\/(tokens|signing-keys|oauth\/(id-token|issuer-keys))\.ts$/,
  otpauth: /^api\/auth\/totp\.ts$/,
  nodemailer: /^api\/mail\/transport\.ts$/,
  'hash-wasm': /^api\/auth\/password-worker\.ts$/,
  croner: /^api\/hooks\/cron-times\.ts$/,
  execa: /^supervisor\/spawn\.ts$/,
  rolldown: /^supervisor\/bundle-runner\.ts$/,
  '@aws-sdk/client-s3': /^storage\/blobs\/s3\.ts$/,
  '@aws-sdk/lib-storage': /^storage\/blobs\/s3\.ts$/,
  chokidar: /^supervisor\/watch\.ts$/,
  c12: /^supervisor\/config\.ts$/,
  crossws: /^api\/realtime\/websocket\.ts$/,
  citty: /^supervisor\/(main\.ts$|commands\/)/,
  undici: /^api\/egress(?:-agent)?\.ts$/,
};

const testPackages = new Set([
  'vitest',
  'fast-check',
  'oidc-provider',
  'oxc-parser',
  'playwright-core',
  'smtp-server',
  's3rver',
  '@seriousme/openapi-schema-validator',
]);

/** The one import whose target is not written down: hook files, which are only ever texts in memory. */
const memoryImport = { from: 'hook-runner/loader.ts', specifier: 'urlOf(file)' };

/** Who may import whom: the arrows of the architecture. */
export function importErrors(source: Source): string[] {
  return source.imports.flatMap(({ specifier, file, isTypeOnly }) => {
    if (source.path === memoryImport.from && specifier === memoryImport.specifier) return [];
    const allowed = file === undefined
      ? mayImportPackage(source.path, specifier)
      : mayImportFile(source.path, file, isTypeOnly);
    return allowed ? [] : [`${source.path} must not import ${specifier}${isTypeOnly ? '' : ' (a value)'}`];
  });
}

function mayImportPackage(from: string, specifier: string): boolean {
  if (specifier.startsWith('node:')) return true;
  const name = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  if (isTest(from)) return testPackages.has(name) || Object.hasOwn(homes, name);
  return homes[name]?.test(from) === true;
}

function mayImportFile(from: string, to: string, isTypeOnly: boolean): boolean {
  if (isTest(from)) return true;
  const [area] = from.split('/');
  if (area !== 'api') return to.startsWith(`${area}/`);
  if (to.startsWith('storage/')) return true;
  if (/^(supervisor\/protocol|hook-runner\/(protocol|calls|registrations))\.ts$/.test(to)) return isTypeOnly;
  return to.startsWith('api/') && mayImportWithin(from, to, isTypeOnly);
}

/** Inside api/: main → app → pipeline; main → routes → features; all of them → the files at its top. */
function mayImportWithin(from: string, to: string, isTypeOnly: boolean): boolean {
  if (to === 'api/main.ts') return false;
  if (from === 'api/main.ts') return true;
  if (to === 'api/app.ts') return false;
  if (from === 'api/app.ts') return !to.startsWith('api/routes/');
  if (to.startsWith('api/routes/')) return from.startsWith('api/routes/');
  if (to.startsWith('api/pipeline/')) return from.startsWith('api/pipeline/') || from === 'api/listen.ts';
  if (ground.test(from) && feature.test(to)) return isTypeOnly || from === 'api/deps.ts';
  return true;
}

/** Whether a file is a test or belongs to the tests. */
export function isTest(path: string): boolean {
  return path.startsWith('test/') || path === 'vitest.config.ts';
}

/** Rings of imports, each as the list of its files. Types count: a ring of types is a ring for the reader. */
export function importRings(sources: readonly Source[]): string[] {
  const rings: string[] = [];
  const done = new Set<string>();
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      rings.push([...trail.slice(start), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const { file } of byPath.get(path)?.imports ?? []) {
      if (file !== undefined) visit(file, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return rings;
}

/** vitest itself asks for the default exports of these. */
const readByVitest = new Set(['vitest.config.ts', 'test/harness/global-setup.ts']);

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
  if (exports.some(({ isFrom }) => isFrom)) errors.push('a re-export; import from where it lives');
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
