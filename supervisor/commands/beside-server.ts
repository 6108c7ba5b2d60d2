// Programs of the API that a command runs for one piece of work: beside the server that runs, or with its database alone.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCacheEnvironment } from '../compile-cache.ts';
import { searchPath, trustEnvironment } from '../config.ts';
import { DataDirInUse, openDataDir } from '../data-dir.ts';
import { parseDatabaseUrl } from '../database-url.ts';
import { derivePassword, openMasterKey } from '../master-key.ts';
import { clusterFolder, provisionerName } from '../postgres/cluster.ts';
import { findSocketDirectory } from '../postgres/socket.ts';
import { accessBy, preparePostgres } from '../postgres/postgres.ts';
import type { Config, DatabaseAccess, FromProgram, ProgramStart } from '../protocol.ts';
import { spawn } from '../spawn.ts';
import { StartRefused } from '../start-refused.ts';

/** The work to do. */
export interface OneShotProgram<Start extends ProgramStart, Result> {
  /** Its file in `api/`, without the extension. */
  program: string;
  /** Its arguments besides the database's address. */
  input: Omit<Start, keyof ProgramStart>;
  onResult: (result: Result) => void;
}

const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** Has a program do its work to the end. Throws `StartRefused`, also with what the program says when it cannot. */
export async function runOneShot<Start extends ProgramStart, Result>(
  config: Config,
  { program, input: ask, onResult }: OneShotProgram<Start, Result>,
): Promise<void> {
  // A first start that was refused may have left a key and no database. A new one would be of whoever runs this.
  const { data_dir, database } = config;
  const mark = database.url === '' ? clusterFolder(data_dir) : join(data_dir, 'master.key.check');
  if (!existsSync(mark)) {
    throw new StartRefused(
      `data_dir ${data_dir} is not that of a server: set data_dir as the server has it, and database.url if it ` +
        'has one',
    );
  }
  await withDatabase(config, async (database, masterKey) => {
    const start = { database, masterKey: masterKey.toString('base64'), ...ask };
    await runProgram<object, Result>(program, start, onResult);
  });
}

/** The database of the server that runs, or of one that is started for as long as this takes. */
async function withDatabase<Result>(
  config: Config,
  work: (database: DatabaseAccess, masterKey: Buffer) => Promise<Result>,
): Promise<Result> {
  const { data_dir, database: { url }, secrets: { master_key } } = config;
  if (url !== '') return await work(parseDatabaseUrl(url), await openMasterKey(data_dir, master_key));
  const uid = process.getuid?.() ?? 0;
  const dataDir = await openDataDir(data_dir, uid).catch((error: unknown) => {
    if (error instanceof DataDirInUse) return undefined;
    throw error;
  });
  const masterKey = await openMasterKey(dataDir?.path ?? data_dir, master_key);
  const password = derivePassword(masterKey, provisionerName);
  if (dataDir === undefined) {
    return await work(accessBy(await findSocketDirectory(data_dir), password), masterKey);
  }
  try {
    const postgres = await preparePostgres({
      dataDir: dataDir.path,
      password,
      uid,
      path: searchPath(),
      platform: process.platform,
      arch: process.arch,
      apiProcesses: 1,
      stop: new AbortController().signal,
      onEvent: () => {},
      onLine: () => {},
      report: () => {},
    });
    try {
      await postgres.start();
      return await work(postgres.access, masterKey);
    } finally {
      await postgres.stop();
    }
  } finally {
    dataDir.release();
  }
}

/** Runs a program of the API with its start message to the end. Throws `StartRefused` with what it says when it cannot. */
export async function runProgram<Start extends object, Result>(
  program: string,
  start: Start,
  onResult: (result: Result) => void,
): Promise<void> {
  const end = Promise.withResolvers<void>();
  const running = spawn({
    file: process.execPath,
    args: [fileURLToPath(new URL(`../../api/${program}${extension}`, import.meta.url))],
    env: { PATH: searchPath(), ...compileCacheEnvironment(), ...trustEnvironment() },
    ipc: {
      onMessage: (message) => {
        if (!isFromProgram<Result>(message)) return;
        if (message.type === 'result') onResult(message.result);
        if (message.type === 'done') end.resolve();
        if (message.type === 'failed') end.reject(new StartRefused(message.message));
      },
    },
    orphanSignal: 'KILL',
  });
  void running.exited.then(() => end.reject(new StartRefused(`${program} ended without a result`)));
  running.send(start);
  try {
    await end.promise;
  } finally {
    running.killGroup();
    await running.exited;
  }
}

/** Our own program: what its messages hold follows from their type. */
function isFromProgram<Result>(message: unknown): message is FromProgram<Result> {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  return ['result', 'done', 'failed'].includes(String(message.type));
}
