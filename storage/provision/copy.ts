// Copies of workspaces' databases, made by PostgreSQL from the files of the original.
import { setTimeout as pause } from 'node:timers/promises';
import { assignCopy, type CopyState } from '../control/tenant-databases.ts';
import type { Sql } from '../connections/pool.ts';
import { StorageError } from '../errors.ts';
import { errorCode } from '../sql/error-code.ts';
import { opaqueName } from '../sql/ids.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { lockDatabase, type Provisioning } from './cluster.ts';
import { beginDatabase, openDatabase } from './database.ts';
import { rehome } from './rehome.ts';
import type { CopiedSchema } from './traces.ts';

/** A database that was copied, with the apps in it. */
export interface DatabaseCopy {
  database: string;
  schemas: CopiedSchema[];
}

/** Makes copies, and keeps them from the reaper. */
export interface Copier {
  /** Copies a database. Throws `StorageError` `unavailable` when its connections are not done in time. */
  copy(source: string): Promise<DatabaseCopy>;
}

const attempts = 5;
/** Connections that are waited for keep others from the source, so that a long statement must not be waited for. */
const firstTimeoutMs = 1_000;
const bytesPerMs = 20 * 1_024;
const releaseIntervalMs = 20;
const pauseMs = 100;
/** `object_in_use`: somebody is connected to the source; `query_canceled`: by our own timeout. */
const busyCodes: readonly string[] = ['55006', '57014'];

/**
 * Runs work that makes copies and hands them over in a transaction of the control database, with `handOver`. Copies that it
 * does not hand over are dropped by the reaper, also after a crash. `release` asks all processes to close their connections to
 * a database as soon as nothing is in flight on them: PostgreSQL copies no database that is in use, and while it copies one,
 * new connections to it wait.
 */
export async function withCopies<Result>(
  provisioning: Provisioning,
  release: (database: string) => void,
  work: (copier: Copier) => Promise<Result>,
): Promise<Result> {
  const { databases, copying } = provisioning;
  return await copying.run(() =>
    databases.onOwnConnection((sql) =>
      work({ copy: (source) => makeCopy(sql, { provisioning, release, source }) })
    )
  );
}

/** Hands copies over to what will hold them, in a transaction of the control database. Throws `StorageError`. */
export async function handOver(
  sql: Sql,
  copies: readonly { database: string; state: CopyState }[],
): Promise<void> {
  for (const { database, state } of copies) {
    if (await assignCopy(sql, database, state)) continue;
    throw new StorageError('unavailable', 'the copy was taken back');
  }
}

interface CopyOptions {
  provisioning: Provisioning;
  release: (database: string) => void;
  source: string;
}

/** `sql` is a connection of its own to the control database, whose end unlocks the copy. */
async function makeCopy(sql: Sql, options: CopyOptions): Promise<DatabaseCopy> {
  const { provisioning, source } = options;
  const { databases } = provisioning;
  const database = opaqueName('w_');
  await lockDatabase(sql, database);
  // Two copies at once would change the same memberships of the source's roles.
  await sql`select pg_advisory_lock(hashtextextended(${`copy of ${source}`}, 0))`;
  await beginDatabase(sql, provisioning, database);
  await createFrom(sql, options, database);
  await openDatabase(sql, database);
  const pool = databases.provisioner(database);
  const schemas = await pool.transaction((tenant) =>
    rehome(tenant, provisioning, { from: source, to: database })
  );
  await pool.closeIdle(0);
  await sql`select pg_advisory_unlock(hashtextextended(${`copy of ${source}`}, 0))`;
  return { database, schemas };
}

async function createFrom(sql: Sql, { source, release }: CopyOptions, database: string): Promise<void> {
  const [found] = await sql<{ bytes: number }[]>`
    select pg_database_size(oid)::float8 as bytes from pg_database where datname = ${source}`;
  const timeoutMs = firstTimeoutMs + Math.ceil((found?.bytes ?? 0) / bytesPerMs);
  await sql.unsafe(`set statement_timeout = ${timeoutMs}`);
  for (let attempt = 1;; attempt++) {
    release(source);
    const timer = setInterval(() => release(source), releaseIntervalMs);
    try {
      await sql.unsafe(`create database ${quoteIdentifier(database)} template ${quoteIdentifier(source)}
        strategy wal_log allow_connections false`);
      await sql`set statement_timeout = 0`;
      return;
    } catch (error) {
      if (!busyCodes.includes(errorCode(error))) throw error;
      if (attempt === attempts) {
        throw new StorageError('unavailable', 'the source is too busy', { cause: error });
      }
    } finally {
      clearInterval(timer);
    }
    await pause(pauseMs * attempt);
  }
}
