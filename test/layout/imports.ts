// Who may import whom, and which package where, as functions from source files to complaints.
import type { Source } from './sources.ts';

/**
 * The layers of api/, from the top: values are imported from a layer below only. A layer is a folder, or a file at the top.
 * A feature that must call upwards declares a port (a type), which is filled in where things are put together.
 */
const layers = [
  'main.ts',
  'app.ts',
  'doctor',
  'pipeline',
  'routes',
  'app-description',
  'app-api',
  'workspaces',
  'apps',
  'users',
  'admins',
  'definition',
  'files',
  'records',
  'hooks',
  'realtime',
  'auth',
  'rules',
  'collections',
  'usage',
  'policies',
  'mail',
  'egress',
  'audit',
  'process',
  'http',
  'contract',
  'logging',
  'deps.ts',
  'deleted-tenant.ts',
  'target.ts',
  'scope.ts',
  'errors.ts',
  // It imports nothing of the server, and nothing of the server imports it.
  'client',
];

/**
 * Where each package may be imported, besides tests. A package that is not here may not be imported at all, so that
 * exchanging one means editing one place.
 */
const homes: Readonly<Record<string, RegExp>> = {
  postgres: /^storage\//,
  mrmime: /^api\/files\/public\/serve\.ts$/,
  superstruct: /^api\/contract\/schema\.ts$/,
  h3: /^api\/(main|app|contract\/route)\.ts$|^api\/(pipeline|http)\//,
  rou3: /^api\/http\/router\.ts$/,
  srvx: /^api\/(app|contract\/route)\.ts$|^api\/(pipeline|http)\//,
  listhen: /^api\/http\/server\.ts$/,
  jose: /^api\/auth\/(tokens\/(tokens|signing-keys)|oauth\/(id-token|issuer-keys))\.ts$/,
  otpauth: /^api\/auth\/totp\/totp\.ts$/,
  nodemailer: /^api\/mail\/transport\.ts$/,
  'hash-wasm': /^api\/auth\/passwords\/worker\.ts$/,
  'csv-parse': /^api\/records\/transfer\/csv\.ts$/,
  croner: /^api\/hooks\/jobs\/times\.ts$/,
  execa: /^supervisor\/spawn\.ts$/,
  rolldown: /^supervisor\/hooks\/bundle-runner\.ts$/,
  '@aws-sdk/client-s3': /^storage\/blobs\/s3(-clients|-probe|-responses)?\.ts$/,
  '@aws-sdk/lib-storage': /^storage\/blobs\/s3\.ts$/,
  chokidar: /^supervisor\/(hooks|dev)\/watch\.ts$/,
  c12: /^supervisor\/config\.ts$/,
  crossws: /^api\/realtime\/websocket\/websocket\.ts$/,
  citty: /^supervisor\/(main\.ts$|commands\/)/,
  undici: /^api\/egress\/(client|agent)\.ts$/,
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
const memoryImport = { from: 'hook-runner/loader.ts', specifier: 'fileUrl(file)' };

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

/** Packages that code which is no test imports, although an installation without `devDependencies` has only `installed`. */
export function missingPackages(source: Source, installed: ReadonlySet<string>): string[] {
  if (isTest(source.path)) return [];
  return source.imports
    .filter(({ specifier, file, isTypeOnly }) =>
      file === undefined && !isTypeOnly && !specifier.startsWith('node:') &&
      specifier !== memoryImport.specifier
    )
    .map(({ specifier }) => packageOf(specifier))
    .filter((name) => !installed.has(name))
    .map((name) => `${source.path} imports ${name}, which is not in dependencies of package.json`);
}

function packageOf(specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function mayImportPackage(from: string, specifier: string): boolean {
  if (specifier.startsWith('node:')) return true;
  const name = packageOf(specifier);
  if (isTest(from)) return testPackages.has(name) || Object.hasOwn(homes, name);
  return homes[name]?.test(from) === true;
}

function mayImportFile(from: string, to: string, isTypeOnly: boolean): boolean {
  if (isTest(from)) return true;
  const [area] = from.split('/');
  if (area !== 'api') return to.startsWith(`${area}/`);
  if (to.startsWith('storage/')) return true;
  if (to === 'hook-runner/events.ts') return true;
  if (/^(supervisor\/(doctor\/)?protocol|hook-runner\/(protocol|calls|registrations))\.ts$/.test(to)) {
    return isTypeOnly;
  }
  return to.startsWith('api/') && mayImportWithin(from, to, isTypeOnly);
}

/** Inside api/: values from below; types from anywhere but the top, where nothing is declared that others need. */
function mayImportWithin(from: string, to: string, isTypeOnly: boolean): boolean {
  const [upper, lower] = [layerOf(from), layerOf(to)];
  if (upper === lower) return true;
  if (isTypeOnly) return lower > layers.indexOf('pipeline') || upper < lower;
  return upper < lower && !(upper === layers.indexOf('app.ts') && lower === layers.indexOf('routes'));
}

/** The layer of a file of api/, counted from the top. Throws for a folder without one. */
function layerOf(path: string): number {
  const name = path.split('/')[1] ?? '';
  const layer = layers.indexOf(name);
  if (layer === -1) throw new RangeError(`${path}: give "api/${name}" a layer in test/layout/imports.ts`);
  return layer;
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
