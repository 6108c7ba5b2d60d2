// Parses `database.url`, the URL of an external PostgreSQL server.
import type { DatabaseAccess } from './protocol.ts';
import { WrongValue } from './setting-kinds.ts';

const modes: Readonly<Record<string, DatabaseAccess['ssl']>> = {
  disable: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  require: 'require',
  'verify-full': 'verify-full',
};

const noHost = 'no-host.invalid';

/**
 * Parses `postgres://user:password@host:port/database?sslmode=…`; `?host=/directory` is the directory of a Unix socket
 * (https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-CONNSTRING-URIS). Throws `WrongValue` without the URL in
 * its message, as the URL contains a password.
 */
export function parseDatabaseUrl(text: string): DatabaseAccess {
  // With a socket's directory the host is empty, which `URL` does not accept for this scheme.
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', `@${noHost}/`));
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new WrongValue('must be a URL like postgres://user:password@host:5432/database');
  }
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'sslmode' && name !== 'host');
  if (unknown !== undefined) {
    // After an unescaped question mark in a password, it is the rest of the password.
    if (!/^\w+$/.test(unknown)) {
      throw new WrongValue('has a ? that is written as %3F where it does not begin parameters');
    }
    throw new WrongValue(`has an unknown parameter ${unknown}: sslmode and host are known`);
  }
  const socket = url.searchParams.get('host');
  const host = socket ?? decoded(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  if (host === '' || host === noHost) throw new WrongValue('names no host');
  if (url.username === '') throw new WrongValue('names no user');
  const mode = url.searchParams.get('sslmode') ?? (host.startsWith('/') ? 'disable' : 'prefer');
  const ssl = modes[mode];
  if (ssl === undefined) {
    throw new WrongValue(`has sslmode=${mode}: one of ${Object.keys(modes).join(', ')} is needed`);
  }
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    username: decoded(url.username),
    password: decoded(url.password),
    database: decoded(url.pathname.slice(1)) || 'bulkhead',
    ssl,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new WrongValue('has a % that is not followed by two hexadecimal digits');
  }
}
