// Resolves the configuration from defaults, file, environment and flags; the later override the earlier.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from './errors.ts';
import type { Config } from './protocol.ts';
import { WrongValue } from './setting-kinds.ts';
import { type Setting, settings } from './settings.ts';
import { StartRefused } from './start-refused.ts';

/** The content and the path of a configuration file. */
export interface ConfigFile {
  path: string;
  value: unknown;
}

/** A setting on the command line. `source` is how it was written there. */
export interface SettingFlag {
  key: string;
  text: string;
  source: string;
}

/** The sources of settings. */
export interface ConfigInput {
  file: ConfigFile | undefined;
  env: Readonly<Record<string, string | undefined>>;
  flags: readonly SettingFlag[];
  /** The directory that relative paths are relative to. */
  cwd: string;
  /** True when standard output is a terminal. */
  terminal: boolean;
}

/** One setting in effect. */
export interface EffectiveSetting {
  value: unknown;
  /** `default`, or the file, variable or flag. */
  source: string;
  secret: boolean;
  doc: string;
}

/** The configuration, and the source of every value. */
export interface ResolvedConfig {
  config: Config;
  effective: ReadonlyMap<string, EffectiveSetting>;
}

const prefix = 'BULKHEAD_';
/** Variables of programs that call a server: which one, as whom, and which app. */
const clientVariables: readonly string[] = [
  'BULKHEAD_URL',
  'BULKHEAD_TOKEN',
  'BULKHEAD_PASSWORD',
  'BULKHEAD_NEW_PASSWORD',
  'BULKHEAD_WORKSPACE',
  'BULKHEAD_APP',
  'BULKHEAD_OUTBOX',
];

/** All settings by their dotted keys. */
export const settingsByKey: ReadonlyMap<string, Setting<unknown>> = new Map(flatten(settings, ''));

/** The environment variable of a key: `http.port` is `BULKHEAD_HTTP__PORT`. */
export function environmentName(key: string): string {
  return prefix + key.toUpperCase().replaceAll('.', '__');
}

/** The command-line flag of a key: `http.port` is `--http-port`. */
export function flagName(key: string): string {
  return `--${key.replaceAll(/[._]/g, '-')}`;
}

/** Resolves the configuration. Throws `StartRefused` naming the first invalid key or value. */
export function resolveConfig(input: ConfigInput): ResolvedConfig {
  const effective = new Map<string, EffectiveSetting>();
  for (const [key, { default: value, secret, doc }] of settingsByKey) {
    effective.set(key, { value, source: 'default', secret, doc });
  }
  const set = (key: string, source: string, read: (setting: Setting<unknown>) => unknown) => {
    const setting = settingsByKey.get(key);
    if (setting === undefined) throw new StartRefused(`unknown setting ${key} (${source})`);
    try {
      const value = read(setting);
      if (value === undefined) throw new WrongValue(`must be ${setting.kind.expected}`);
      effective.set(key, { value, source, secret: setting.secret, doc: setting.doc });
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      throw new StartRefused(`${key} ${error.message} (${source})`);
    }
  };
  if (input.file !== undefined) {
    const { path, value } = input.file;
    for (const [key, member] of leaves(value, '', path)) set(key, path, ({ kind }) => kind.read(member));
  }
  const keys = new Map([...settingsByKey.keys()].map((key) => [environmentName(key), key]));
  for (const [name, member] of Object.entries(input.env)) {
    if (!name.startsWith(prefix) || clientVariables.includes(name) || member === undefined) continue;
    const key = keys.get(name);
    if (key === undefined) throw new StartRefused(`unknown setting ${name} (environment)`);
    set(key, `environment ${name}`, ({ kind }) => kind.readText(member));
  }
  for (const { key, text, source } of input.flags) set(key, source, ({ kind }) => kind.readText(text));
  return { config: complete(effective, input), effective };
}

/** Applies the defaults that depend on other values, and checks the rules between settings. */
function complete(effective: Map<string, EffectiveSetting>, { cwd, terminal }: ConfigInput): Config {
  const derive = (key: string, value: unknown) => {
    const entry = effective.get(key);
    if (entry !== undefined) effective.set(key, { ...entry, value });
  };
  if (effective.get('log.format')?.source === 'default') derive('log.format', terminal ? 'pretty' : 'json');
  const given = build(effective);
  const dataDir = resolve(cwd, given.data_dir);
  derive('data_dir', dataDir);
  derive('hooks.dir', given.hooks.dir === '' ? join(dataDir, 'hooks') : resolve(cwd, given.hooks.dir));
  if (given.storage.backend === 's3' && given.storage.s3.bucket === '') {
    throw new StartRefused('storage.s3.bucket is needed when storage.backend is s3');
  }
  if (given.mail.transport === 'smtp' && given.mail.smtp.url === '') {
    throw new StartRefused('mail.smtp.url is needed when mail.transport is smtp');
  }
  if (given.hooks.max_runners < given.api.workers) {
    throw new StartRefused('hooks.max_runners must not be less than api.workers: each of these runs hooks');
  }
  return build(effective);
}

function build(effective: ReadonlyMap<string, EffectiveSetting>): Config {
  const part = (table: object, path: string): object =>
    Object.fromEntries(
      Object.entries(table).map(([name, entry]) => {
        const key = path === '' ? name : `${path}.${name}`;
        return [name, settingsByKey.has(key) ? effective.get(key)?.value : part(entry, key)];
      }),
    );
  // The compiler cannot follow the recursion. It does check that `settings` has a row of the right kind for every member.
  return part(settings, '') as Config;
}

function flatten(table: object, path: string): [string, Setting<unknown>][] {
  return Object.entries(table).flatMap(([name, entry]): [string, Setting<unknown>][] => {
    const key = path === '' ? name : `${path}.${name}`;
    return isSetting(entry) ? [[key, entry]] : flatten(entry, key);
  });
}

function isSetting(entry: object): entry is Setting<unknown> {
  return 'kind' in entry && 'default' in entry;
}

function leaves(value: unknown, path: string, file: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw noObject(path === '' ? 'the configuration' : path, file);
  }
  return Object.entries(value).flatMap(([name, entry]): [string, unknown][] => {
    const key = path === '' ? name : `${path}.${name}`;
    const isSection = [...settingsByKey.keys()].some((known) => known.startsWith(`${key}.`));
    return isSection ? leaves(entry, key, file) : [[key, entry]];
  });
}

function noObject(what: string, file: string): StartRefused {
  return new StartRefused(`${what} must be an object of settings (${file})`);
}

const extensions = ['ts', 'js', 'json', 'yaml', 'toml'];
/** Extensions that an operator may expect to work, although such files are not read. */
const otherExtensions = ['yml', 'json5', 'jsonc', 'mjs', 'cjs', 'mts', 'cts'];

/**
 * Loads `bulkhead.config.*` from a directory; undefined when there is none. Throws `StartRefused` when it cannot be read, or has
 * an extension that is not read.
 */
export async function loadConfigFile(cwd: string): Promise<ConfigFile | undefined> {
  const [name, other] = filesOf(extensions, cwd);
  const [unread] = filesOf(otherExtensions, cwd);
  if (unread !== undefined) {
    throw new StartRefused(
      `${unread} is none of bulkhead.config.{${extensions.join(',')}}: name it otherwise`,
    );
  }
  if (name === undefined) return undefined;
  if (other !== undefined) {
    throw new StartRefused(`there are two configuration files, ${name} and ${other}: keep one`);
  }
  const path = join(cwd, name);
  try {
    // The loader fails on YAML that has only comments.
    if (name.endsWith('.yaml') && isBlank(readFileSync(path, 'utf8'))) return { path, value: {} };
    return { path, value: await load(name, cwd) };
  } catch (error) {
    // For null, a number or a text, the loader's error describes its own code.
    if (error instanceof TypeError && error.stack?.includes(name) !== true) {
      throw noObject('the configuration', path);
    }
    const [line] = messageOf(error).split('\n');
    throw new StartRefused(`${path} cannot be read: ${line}`);
  }
}

function filesOf(endings: readonly string[], cwd: string): string[] {
  return endings.map((ending) => `bulkhead.config.${ending}`).filter((name) => existsSync(join(cwd, name)));
}

async function load(configFile: string, cwd: string): Promise<unknown> {
  // Imported only when there is a file, as it takes 10 MB.
  const { loadConfig } = await import('c12');
  const off = { rcFile: false, globalRc: false, packageJson: false, dotenv: false, extend: false } as const;
  // Its cache would be in the temporary directory, where other users can read it, and plant code for the next start.
  const jitiOptions = { fsCache: false };
  const options = { configFile, envName: false, giget: false, jitiOptions, ...off } as const;
  const { config, layers } = await loadConfig({ cwd, ...options });
  // The loader turns a text or a number into an empty object.
  const held: unknown = layers?.[0]?.config;
  return typeof held === 'string' || typeof held === 'number' ? held : config;
}

function isBlank(yaml: string): boolean {
  return yaml.split('\n').every((line) => /^\s*(#|$)/.test(line));
}

/** The supervisor's environment. Only this file reads it. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The variables of additional certificate authorities, for child processes that connect to other servers. */
export function trustEnvironment(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'];
  return Object.fromEntries(names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }));
}

/** `PATH`, the only variable that all child processes inherit. */
export function searchPath(): string {
  return process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
}
