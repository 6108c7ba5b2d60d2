// The course of `bulkhead ephemeral`: a server, the command, and nothing of both.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environment, searchPath, type SettingFlag } from '../config.ts';
import { RemoteClient } from '../remote/client.ts';
import { StartRefused } from '../start-refused.ts';
import { runCommand } from './command-process.ts';
import { makeThrowawayFolder, type ThrowawayFolder } from './folder.ts';
import { setUp, startThrowaway, throwawayConfig, workspaceId } from './server.ts';
import { findStored, type ServerAccess, store } from './stored.ts';

/** What to run, and with which server. */
export interface EphemeralOptions {
  /** The command with its arguments. */
  command: readonly string[];
  settings: readonly SettingFlag[];
  /** The id of the app. */
  app: string;
  /** Where the log of the server is kept. */
  log: string | undefined;
}

/** Runs the command beside a new server, and returns its exit code. Throws `StartRefused` and `CommandFailed`. */
export async function runEphemeral(options: EphemeralOptions): Promise<number> {
  const [file, ...args] = options.command;
  if (file === undefined) {
    throw new StartRefused('which command? It comes after two dashes: bulkhead ephemeral -- npm test');
  }
  // Until the command runs, a signal ends this process, and whatever it has started goes with it.
  const folder = await makeThrowawayFolder(process.getuid?.() ?? 0, searchPath());
  try {
    const stored = await findStored();
    const code = await beside(folder, { options, stored }, async (server) => {
      const env = { ...environmentOfCommand(), ...describePlace(server, options.app) };
      return await runCommand({ file, args, cwd: process.cwd(), env });
    });
    if (stored === undefined) await storeServer(folder);
    return code;
  } finally {
    await folder.remove();
  }
}

interface Prepared extends ServerAccess {
  url: string;
  dataDir: string;
}

/** Starts the server, makes it ready, does the work, and stops the server. */
async function beside<Result>(
  { path, dataDir }: ThrowawayFolder,
  { options, stored }: { options: EphemeralOptions; stored: Awaited<ReturnType<typeof findStored>> },
  work: (server: Prepared) => Promise<Result>,
): Promise<Result> {
  const config = throwawayConfig(dataDir, options.settings);
  const log = options.log === undefined ? join(path, 'log') : resolve(options.log);
  // The program loads while the files are copied.
  await Promise.all([import('../commands/serve.ts'), stored?.copyTo(dataDir)]);
  const server = await startThrowaway(config, log).catch((error: unknown) => {
    throw withLog(error, log);
  });
  try {
    const access = stored?.access ?? await setUp(server.url);
    const client = new RemoteClient(server.url, access.token);
    const body = { id: options.app, name: options.app };
    await client.request(`/api/workspaces/${workspaceId}/apps`, { method: 'POST', body });
    return await work({ ...access, url: server.url, dataDir });
  } finally {
    await server.stop();
  }
}

/** The last lines of the log, which nobody can read once the folder is gone. */
function withLog(error: unknown, log: string): unknown {
  if (!(error instanceof StartRefused) || !existsSync(log)) return error;
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5);
  return new StartRefused([error.message, ...lines].join('\n'));
}

/** After a first run: the next ones need not make a cluster, nor set a server up. */
async function storeServer({ path }: ThrowawayFolder): Promise<void> {
  await store(async (dataDir) => {
    const server = await startThrowaway(throwawayConfig(dataDir, []), join(path, 'log-stored'));
    try {
      return await setUp(server.url);
    } finally {
      await server.stop();
    }
  });
}

function environmentOfCommand(): Record<string, string> {
  const entries = Object.entries(environment()).filter(([name]) => name !== 'NODE_COMPILE_CACHE');
  return Object.fromEntries(entries.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]));
}

function describePlace({ url, token, dataDir }: Prepared, app: string): Record<string, string> {
  return {
    BULKHEAD_URL: url,
    BULKHEAD_WORKSPACE: workspaceId,
    BULKHEAD_APP: app,
    BULKHEAD_TOKEN: token,
    BULKHEAD_OUTBOX: join(dataDir, 'outbox'),
  };
}
