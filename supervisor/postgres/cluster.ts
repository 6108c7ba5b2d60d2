// Making the embedded cluster, once.
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PostgresBinaries } from './binaries.ts';
import type { Account, RunAs } from './user.ts';
import { runToEnd } from '../run-to-end.ts';
import { scramVerifier } from './scram.ts';
import type { Command } from '../spawn.ts';
import { StartRefused } from '../start-refused.ts';

/** Name of the provisioner role and of the control database. */
export const provisionerName = 'bulkhead';

/** Where the cluster of a data directory is (PGDATA), or will be. */
export function clusterFolder(dataDir: string): string {
  return join(dataDir, 'postgresql', 'data');
}

/** How a cluster is made. */
export interface ClusterOptions {
  binaries: PostgresBinaries;
  /** Where it will be (PGDATA). */
  data: string;
  account: Account | undefined;
  runAs: RunAs;
  /** Password of the provisioner role. */
  password: string;
  path: string;
  /** True where it need not outlive a power cut. */
  isThrowaway: boolean;
  /** Aborted when the supervisor is told to stop meanwhile. */
  stop: AbortSignal;
}

const bootstrapFile = new URL('../../migrations/cluster/0001_bootstrap.sql', import.meta.url);
const iterations = 4096;

/**
 * Makes the cluster with data checksums, the provisioner role and the control database. It is made aside and then
 * renamed, so that a crash leaves nothing half. The superuser gets no password and `pg_hba.conf` admits it nowhere:
 * only `postgres --single` on this machine acts as superuser. Throws `StartRefused` with PostgreSQL's own words.
 */
export async function makeCluster(options: ClusterOptions): Promise<void> {
  const { binaries, data, account, stop } = options;
  const unfinished = `${data}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await chmod(unfinished, 0o700);
  if (account !== undefined) await chown(unfinished, account.uid, account.gid);
  const initdb = [
    '-D',
    unfinished,
    '--username=postgres',
    '--auth=reject',
    '--data-checksums',
    '--encoding=UTF8',
  ];
  const locale = [
    '--no-locale',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  const hasty = options.isThrowaway ? ['--no-sync', '--wal-segsize=1'] : [];
  await run(options, { file: binaries.initdb, args: [...initdb, ...locale, ...hasty] });
  const quiet = [
    ...hasty.length > 0 ? ['-F'] : [],
    '-c',
    'log_min_error_statement=panic',
    '-c',
    'log_error_verbosity=terse',
  ];
  const single = ['--single', '-j', '-D', unfinished, '-c', 'exit_on_error=on', ...quiet, 'postgres'];
  const verifier = scramVerifier(options.password, randomBytes(16), iterations);
  const input = (await readFile(bootstrapFile, 'utf8')).replace(':verifier', () => verifier);
  await run(options, { file: binaries.postgres, args: single, input });
  stop.throwIfAborted();
  await rename(unfinished, data);
  const parent = await open(dirname(data));
  await parent.sync();
  await parent.close();
}

async function run(
  options: ClusterOptions,
  program: Pick<Command, 'file' | 'args' | 'input'>,
): Promise<void> {
  const env = { PATH: options.path, LC_ALL: 'C', TZ: 'UTC', ...options.binaries.env };
  const command = options.runAs({ ...program, env });
  const { code, signal, lines } = await runToEnd({ ...command, orphanSignal: 'KILL' }, options.stop);
  if (code === 0) return;
  const why = firstError(lines) ?? `code ${code}, signal ${signal}`;
  throw new StartRefused(`the PostgreSQL cluster ${options.data} could not be made: ${why}`);
}

/** The first thing that went wrong, which the rest follows from; where nothing is called an error, the last words. */
function firstError(lines: readonly string[]): string | undefined {
  const errors = lines.map(errorInLine);
  return errors.find((error) => error !== undefined) ?? lines.map((line) => line.trim()).findLast(Boolean);
}

/** The error in an output line of one of PostgreSQL's programs. */
export function errorInLine(line: string): string | undefined {
  return /\b(?:ERROR|FATAL|PANIC|initdb: error): +(.*)/.exec(line)?.[1];
}
