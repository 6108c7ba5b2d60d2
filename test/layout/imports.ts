// Who may import whom, and which package where, as functions from source files to complaints.
import type { Source } from './sources.ts';

const ground = /^api\/[a-z-]+\.ts$/;
const feature = /^api\/(?!pipeline\/|routes\/)[a-z-]+\//;

/**
 * Where each package may be imported, besides tests. A package that is not here may not be imported at all, so that
 * exchanging one means editing one place.
 */
const homes: Readonly<Record<string, RegExp>> = {
  postgres: /^storage\//,
  superstruct: /^api\/schema\.ts$/,
  h3: /^api\/(main|app|route|compiled-routes)\.ts$|^api\/pipeline\//,
  rou3: /^api\/compiled-routes\.ts$/,
  srvx: /^api\/(app|route)\.ts$|^api\/pipeline\//,
  listhen: /^api\/listen\.ts$/,
  jose: /^api\/auth\/(tokens\/(tokens|signing-keys)|oauth\/(id-token|issuer-keys))\.ts$/,
  otpauth: /^api\/auth\/totp\.ts$/,
  nodemailer: /^api\/mail\/transport\.ts$/,
  'hash-wasm': /^api\/auth\/passwords\/worker\.ts$/,
  croner: /^api\/hooks\/cron\/times\.ts$/,
  execa: /^supervisor\/spawn\.ts$/,
  rolldown: /^supervisor\/hooks\/bundle-runner\.ts$/,
  '@aws-sdk/client-s3': /^storage\/blobs\/s3(-clients)?\.ts$/,
  '@aws-sdk/lib-storage': /^storage\/blobs\/s3\.ts$/,
  chokidar: /^supervisor\/hooks\/watch\.ts$/,
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
