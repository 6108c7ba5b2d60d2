// A PostgreSQL cluster of a test's own, as the supervisor makes and runs it.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { type Postgres, type PostgresOptions, preparePostgres } from '../../supervisor/postgres/postgres.ts';
import { listProcesses, type ProcessRow } from './processes.ts';

/** A temporary data directory, and the clusters that were started in it. */
export interface TestCluster {
  dir: string;
  /** What the operator was told, as `level message`. */
  reports: string[];
  /** What PostgreSQL wrote. */
  lines: string[];
  prepare(change?: Partial<PostgresOptions>): Promise<Postgres>;
  /** The postmaster, its children and its watcher, as far as they run. */
  processes(): Promise<ProcessRow[]>;
  /** Stops what runs, but keeps the data. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** Makes the directory; nothing runs yet. */
export async function makeTestCluster(): Promise<TestCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'bulkhead-pg-'));
  await chmod(dir, 0o711);
  const reports: string[] = [];
  const lines: string[] = [];
  const running: Postgres[] = [];
  const stop = async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()));
  };
  return {
    dir,
    reports,
    lines,
    stop,
    prepare: async (change = {}) => {
      const made = await preparePostgres({
        dataDir: dir,
        password: 'a-password',
        uid: process.getuid?.() ?? 0,
        path: process.env['PATH'] ?? '',
        platform: process.platform,
        arch: process.arch,
        apiProcesses: 1,
        stop: new AbortController().signal,
        onEvent: () => {},
        onLine: (line) => lines.push(line),
        report: (level, message) => reports.push(`${level} ${message}`),
        ...change,
      });
      running.push(made);
      return made;
    },
    processes: async () => {
      const all = await listProcesses();
      const isPostmaster = ({ command }: ProcessRow) =>
        command.includes(`-D ${dir}/`) && !command.startsWith('/bin/sh');
      const postmasters = all.filter(isPostmaster);
      return all.filter((row) => postmasters.some(({ pid }) => pid === row.pid || pid === row.parent));
    },
    remove: async () => {
      await stop();
      await rm(dir, { recursive: true });
    },
  };
}

/** One statement over a connection of its own. */
export async function ask(
  { access }: Postgres,
  text: string,
  change: postgres.Options<Record<string, never>> = {},
): Promise<Record<string, unknown>[]> {
  const { host, port, username, password, database } = access;
  const sql = postgres({ host, port, username, password, database, max: 1, onnotice: () => {}, ...change });
  try {
    return [...await sql.unsafe(text)];
  } finally {
    // Without a deadline, end() waits for ever once the server has closed the connection.
    await sql.end({ timeout: 1 });
  }
}
