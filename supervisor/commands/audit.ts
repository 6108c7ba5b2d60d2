// `bulkhead audit verify`: says whether audit logs are as they were written, beside a server that runs or without one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCacheEnvironment } from '../compile-cache.ts';
import { searchPath, trustEnvironment } from '../config.ts';
import { DataDirInUse, openDataDir } from '../data-dir.ts';
import { parseDatabaseUrl } from '../database-url.ts';
import { derivePassword, openMasterKey } from '../master-key.ts';
import { provisionerName } from '../postgres-cluster.ts';
import { findSocketDirectory, socketPort } from '../postgres-socket.ts';
import { preparePostgres } from '../postgres.ts';
import type { Config, DatabaseAccess, FromVerify, Verified, VerifyStart } from '../protocol.ts';
import { spawn } from '../spawn.ts';
import { StartRefused } from '../start-refused.ts';

/** What is to be verified, and how it is told. */
export interface VerifyWish {
  log: VerifyStart['log'];
  head: VerifyStart['head'];
  json: boolean;
  write: (text: string) => void;
}

const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const program = fileURLToPath(new URL(`../../api/audit/verify${extension}`, import.meta.url));

/** The wish that flags stand for. Throws `StartRefused`. */
export function readVerifyWish(own: (name: string) => string | undefined): Pick<VerifyWish, 'log' | 'head'> {
  const workspace = own('workspace');
  const log = workspace !== undefined ? { workspace } : own('system') === undefined ? 'all' : 'system';
  const text = own('head');
  if (text === undefined) return { log, head: null };
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new StartRefused('--head must be a head that audit verify printed, like 1204:9f86…');
  }
  if (log === 'all') throw new StartRefused('--head is of one log: add --workspace <id> or --system');
  return { log, head: { seq: Number(seq), hash } };
}

/** Answers whether all is as it was written. Throws `StartRefused`. */
export async function verifyAudit(config: Config, wish: VerifyWish): Promise<boolean> {
  if (!existsSync(join(config.data_dir, 'master.key.check'))) {
    throw new StartRefused(
      `data_dir ${config.data_dir} is not that of a server: set data_dir as the server has it`,
    );
  }
  return await withDatabase(config, async (database, masterKey) => {
    let faulty = 0;
    const { log, head } = wish;
    const start: VerifyStart = {
      type: 'verify',
      database,
      masterKey: masterKey.toString('base64'),
      log,
      head,
    };
    await ask(start, (verified) => {
      faulty += verified.faulty;
      wish.write(wish.json ? `${JSON.stringify(verified)}\n` : describe(verified));
    });
    return faulty === 0;
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
  if (dataDir === undefined) return await work(await accessOf(data_dir, password), masterKey);
  try {
    const postgres = await preparePostgres({
      dataDir: dataDir.path,
      password,
      uid,
      path: searchPath(),
      platform: process.platform,
      arch: process.arch,
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

async function accessOf(dataDir: string, password: string): Promise<DatabaseAccess> {
  const host = await findSocketDirectory(dataDir);
  return {
    host,
    port: socketPort,
    username: provisionerName,
    password,
    database: provisionerName,
    ssl: 'disable',
  };
}

/** Runs the program that reads the logs. Throws `StartRefused` with what it says when it cannot. */
async function ask(start: VerifyStart, onVerified: (verified: Verified) => void): Promise<void> {
  const end = Promise.withResolvers<void>();
  const running = spawn({
    file: process.execPath,
    args: [program],
    env: { PATH: searchPath(), ...compileCacheEnvironment(), ...trustEnvironment() },
    ipc: {
      onMessage: (message) => {
        if (!isFromVerify(message)) return;
        if (message.type === 'verified') onVerified(message);
        if (message.type === 'done') end.resolve();
        if (message.type === 'failed') end.reject(new StartRefused(message.message));
      },
    },
    orphanSignal: 'KILL',
  });
  void running.exited.then(() => end.reject(new StartRefused('the verification ended without a result')));
  running.send(start);
  try {
    await end.promise;
  } finally {
    running.killGroup();
    await running.exited;
  }
}

/** Our own program: what its messages hold follows from their type. */
function isFromVerify(message: unknown): message is FromVerify {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  return ['verified', 'done', 'failed'].includes(String(message.type));
}

function describe({ log, sound, waiting, removed, head, faults, faulty }: Verified): string {
  const counts = [`${sound} sound`];
  if (waiting > 0) counts.push(`${waiting} waiting for their seal`);
  if (removed > 0) counts.push(`${removed} removed by retention`);
  const lines = [`${log}: ${faulty === 0 ? 'ok' : 'BROKEN'}: ${counts.join(', ')}; head ${head}`];
  for (const { seq, id, what } of faults) {
    const where = [...(seq === null ? [] : [`seal ${seq}`]), ...(id === null ? [] : [`row ${id}`])].join(
      ', ',
    );
    lines.push(`  ${where === '' ? '' : `${where}: `}${what}`);
  }
  if (faulty > faults.length) lines.push(`  and ${faulty - faults.length} more`);
  return `${lines.join('\n')}\n`;
}
