// The user that the API processes run as when root starts the server. What parses the bytes of strangers is not root.
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findClosedDirectory } from './closed-directory.ts';
import { compileCacheEnvironment, compileCacheFolder } from './compile-cache.ts';
import type { DataDir } from './data-dir.ts';
import { systemErrorCode } from './errors.ts';
import { parseDatabaseUrl } from './database-url.ts';
import type { Output } from './output.ts';
import { giveTo } from './ownership.ts';
import { type Account, asAccountWith, type Capability, hasSetpriv, type RunAs } from './postgres/user.ts';
import type { Config } from './protocol.ts';
import { reservedUsers } from './reserved-users.ts';
import { StartRefused } from './start-refused.ts';

/** What the choice depends on. `config` has absolute paths. */
export interface ApiUserOptions {
  config: Config;
  dataDir: DataDir;
  uid: number;
  platform: string;
  path: string;
  say: Output['log'];
}

/** The user of the API processes. */
export interface ApiUser {
  account: Account;
  runAs: RunAs;
  /** The environment by which they find compiled code. */
  cache: Record<string, string>;
}

/**
 * Chooses the user, and gives it what the API reads and writes. It is the owner of the data directory, or a reserved user
 * when that is root. Undefined where the caller is not root, or is root on another system than Linux: then the API runs as
 * the caller. Throws `StartRefused` when the user cannot get at the program.
 */
export async function chooseApiUser(options: ApiUserOptions): Promise<ApiUser | undefined> {
  const { config, dataDir, uid, platform } = options;
  if (uid !== 0 || platform !== 'linux') return undefined;
  const runtime = join(dataDir.path, 'runtime');
  const account = await accountOf(dataDir, runtime);
  const folders = [
    ...config.storage.backend === 'local' ? [join(dataDir.path, 'blobs')] : [],
    ...config.mail.transport === 'outbox' ? [join(dataDir.path, 'outbox')] : [],
  ];
  for (const folder of folders) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A million files take a while. The folder itself comes last, so it says whether all were given.
    if ((await stat(folder)).uid !== account.uid) await giveTo(account, await realpath(folder));
  }
  await giveTo(account, join(dataDir.path, 'mail'));
  await giveTo(account, await realpath(config.hooks.dir));
  const opened = [...folders, config.hooks.dir, ...socketFolders(config)].map((folder) =>
    join(folder, 'files')
  );
  return {
    account,
    runAs: await chooseRunAs(options, account, opened),
    cache: await linkCompileCache(account),
  };
}

/** The folder of the socket of an external PostgreSQL, where it has one. */
function socketFolders({ database: { url } }: Config): string[] {
  const host = url === '' ? '' : parseDatabaseUrl(url).host;
  return isAbsolute(host) && existsSync(host) ? [host] : [];
}

async function accountOf({ path, owner }: DataDir, runtime: string): Promise<Account> {
  if (owner !== 0) return { uid: owner, gid: (await stat(path)).gid };
  const { api } = await reservedUsers(runtime);
  return { uid: api, gid: api };
}

/** As the account, with the capabilities of root's that it cannot do without on this machine. */
async function chooseRunAs(
  { config, path, say }: ApiUserOptions,
  account: Account,
  paths: readonly string[],
): Promise<RunAs> {
  const capabilities: Capability[] = [];
  const program = fileURLToPath(import.meta.url);
  const closed = await findClosedDirectory(account, [process.execPath, program, ...paths]);
  if (closed !== undefined) capabilities.push('dac_read_search');
  if (await isPrivileged(config.http.port)) capabilities.push('net_bind_service');
  if (closed !== undefined) {
    say(
      'warn',
      `the user of the API (uid ${account.uid}) may not pass ${closed}: it runs with the capability ` +
        `dac_read_search; chmod o+x ${closed} avoids that`,
    );
  }
  if (capabilities.length > 0 && !await hasSetpriv(path)) {
    throw new StartRefused(
      `the API does not run as root, and needs ${capabilities.join(' and ')}: install setpriv (util-linux)` +
        (closed === undefined ? '' : `, or run chmod o+x ${closed}`),
    );
  }
  return asAccountWith(account, capabilities);
}

/** True of a port that the kernel leaves to root. */
async function isPrivileged(port: number): Promise<boolean> {
  const first = await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => '1024');
  return port !== 0 && port < Number(first);
}

/**
 * Node has a folder of compiled code for each user, named after its version and the user. The API's is a link to this
 * process's beside it, which the API cannot write to: only users who may change the code may change the compiled code.
 */
async function linkCompileCache({ uid }: Account): Promise<Record<string, string>> {
  const own = compileCacheFolder();
  if (own === undefined) return compileCacheEnvironment();
  const link = join(dirname(own), basename(own).replace(/-0$/, `-${uid}`));
  try {
    await symlink(basename(own), link);
  } catch (error) {
    // Of an earlier start; or the code is on a read-only file system, and the API compiles at each start.
    if (!['EEXIST', 'EROFS'].includes(systemErrorCode(error))) throw error;
  }
  return compileCacheEnvironment();
}
