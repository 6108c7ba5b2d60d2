// The user that the embedded PostgreSQL runs as: it refuses to run as root.
import { access, constants } from 'node:fs/promises';
import { runToEnd } from '../run-to-end.ts';
import type { Command } from '../spawn.ts';
import { StartRefused } from '../start-refused.ts';

/** Name of the system user, made when root starts the server for the first time. */
export const serviceUserName = 'bulkhead';

/** An account of the operating system. */
export interface Account {
  uid: number;
  gid: number;
}

/** Runs PostgreSQL's programs as the right user. */
export type RunAs = (command: Omit<Command, 'orphanSignal'>) => Omit<Command, 'orphanSignal'>;

/**
 * The account for PostgreSQL: none (the caller's own) unless root asks; then the owner of an existing cluster, else
 * the system user. Throws `StartRefused` when there is no such user and none can be made.
 */
export async function serviceAccount(
  options: { uid: number; clusterOwner: Account | undefined; path: string },
): Promise<Account | undefined> {
  const { uid, clusterOwner, path } = options;
  if (uid !== 0) return undefined;
  if (clusterOwner !== undefined && clusterOwner.uid !== 0) return clusterOwner;
  const found = await lookUp(path);
  if (found !== undefined) return found;
  const made = await runToEnd({
    file: 'useradd',
    args: ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', serviceUserName],
    env: { PATH: `${path}:/usr/sbin:/sbin` },
    orphanSignal: 'KILL',
  });
  const account = await lookUp(path);
  if (account !== undefined) return account;
  const why = made.lines.at(-1) ?? `useradd exited with code ${made.code}`;
  throw new StartRefused(
    `PostgreSQL does not run as root, and the system user ${serviceUserName} could not be made (${why}): ` +
      'make it, or start bulkhead as an ordinary user',
  );
}

/** Runs commands as the caller. */
export const asCaller: RunAs = (command) => command;

/** Runs commands as the account. */
export function asAccount(account: Account): RunAs {
  return (command) => ({ ...command, user: account });
}

/**
 * A right of root's. `dac_read_search` passes directories that are closed to the account; it also reads every file, so it is
 * only for a machine that leaves no other way. `net_bind_service` listens on ports below 1024.
 */
export type Capability = 'dac_read_search' | 'net_bind_service';

/** Runs commands as the account, with some of root's rights. */
export function asAccountWith(account: Account, capabilities: readonly Capability[]): RunAs {
  if (capabilities.length === 0) return asAccount(account);
  const identity = ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'];
  const added = capabilities.map((name) => `+${name}`).join();
  return (command) => ({
    ...command,
    file: 'setpriv',
    args: [...identity, '--inh-caps', added, '--ambient-caps', added, command.file, ...command.args],
  });
}

/** True when `setpriv` is on the path: util-linux has it, other systems may not. */
export async function hasSetpriv(path: string): Promise<boolean> {
  const tries = path.split(':').map((directory) => access(`${directory}/setpriv`, constants.X_OK));
  return (await Promise.allSettled(tries)).some((outcome) => outcome.status === 'fulfilled');
}

async function lookUp(path: string): Promise<Account | undefined> {
  const ask = (flag: string) =>
    runToEnd({ file: 'id', args: [flag, serviceUserName], env: { PATH: path }, orphanSignal: 'KILL' });
  const [user, group] = await Promise.all([ask('-u'), ask('-g')]);
  if (user.code !== 0 || group.code !== 0) return undefined;
  return { uid: Number(user.lines[0]), gid: Number(group.lines[0]) };
}
