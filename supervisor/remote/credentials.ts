// The API keys that `bulkhead login` keeps: one for each server, in a file that only its user can read.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../config.ts';
import { messageOf, systemErrorCode } from '../errors.ts';
import { CommandFailed } from './failure.ts';
import { listMember, memberOf, textMember } from './members.ts';
import type { KeyLevel } from './scopes.ts';

/** Who is signed in at a server, and the key that stands for them. */
export interface Login {
  url: string;
  level: KeyLevel;
  /** The name of the master admin, or the email of another. */
  name: string;
  workspace: string | undefined;
  app: string | undefined;
  key: { id: string; secret: string; expires_at: string | null };
}

/** The stored logins. */
export interface Credentials {
  /** The URL of the server that was signed in to last. */
  current: string | undefined;
  logins: readonly Login[];
}

/** The path of the file, below `XDG_CONFIG_HOME`. */
export function credentialsPath(): string {
  const { XDG_CONFIG_HOME: configured = '', HOME: home = '' } = environment();
  const base = configured === '' ? join(home === '' ? homedir() : home, '.config') : configured;
  return join(base, 'bulkhead', 'credentials.json');
}

/** Reads the logins; none where there is no file. Throws `CommandFailed` when the file cannot be read. */
export function readCredentials(): Credentials {
  const path = credentialsPath();
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return {
      current: textMember(value, 'current'),
      logins: listMember(value, 'logins').map(readLogin).filter((login) => login !== undefined),
    };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { current: undefined, logins: [] };
    throw new CommandFailed(
      'refused',
      `${path} cannot be read: ${messageOf(error)}; delete it and sign in again`,
    );
  }
}

/** Stores a login as the current one, in place of that at the same server. */
export function storeLogin(login: Login): void {
  const others = readCredentials().logins.filter(({ url }) => url !== login.url);
  write({ current: login.url, logins: [...others, login] });
}

/** Removes the login at a server. */
export function removeLogin(url: string): void {
  const { current, logins } = readCredentials();
  const others = logins.filter((login) => login.url !== url);
  if (others.length === 0) rmSync(credentialsPath(), { force: true });
  else write({ current: current === url ? others.at(-1)?.url : current, logins: others });
}

/** The old file stays until the new one is complete, and nobody else can read either of them. */
function write(credentials: Credentials): void {
  const path = credentialsPath();
  const folder = join(path, '..');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, path);
}

function readLogin(value: unknown): Login | undefined {
  const url = textMember(value, 'url');
  const level = textMember(value, 'level');
  const key = memberOf(value, 'key');
  const id = textMember(key, 'id');
  const secret = textMember(key, 'secret');
  if (url === undefined || !isLevel(level) || id === undefined || secret === undefined) return undefined;
  return {
    url,
    level,
    name: textMember(value, 'name') ?? '',
    workspace: textMember(value, 'workspace'),
    app: textMember(value, 'app'),
    key: { id, secret, expires_at: textMember(key, 'expires_at') ?? null },
  };
}

/** True for the name of a level. */
export function isLevel(text: unknown): text is KeyLevel {
  return text === 'server' || text === 'workspace' || text === 'app';
}
