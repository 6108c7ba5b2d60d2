// The folder of a throw-away server, and the process that removes it: also when this one is killed.
import { chmod, lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDataDirInUse } from '../data-dir.ts';
import { spawn } from '../spawn.ts';

/** The folder of one throw-away server. */
export interface ThrowawayFolder {
  path: string;
  /** The data directory in it, which is not there yet. */
  dataDir: string;
  /** Removes the folder. Whatever used it must have ended. */
  remove: () => Promise<void>;
}

const prefix = 'bulkhead-ephemeral-';
/** The path of PostgreSQL's socket below it must not get too long, nor have a comma: see postgres/socket.ts. */
const maxPathBytes = 70;

/**
 * Reads from descriptor 3, whose other end only the supervisor has, so that the kernel ends the read with the supervisor.
 * PostgreSQL, which may need a moment to end, writes files meanwhile: so it tries again.
 */
const removal = `trap '' INT TERM HUP QUIT; exec </dev/null >/dev/null 2>&1; read -r _ <&3
i=0
while [ -e "$1" ] && [ $i -lt 600 ]; do rm -rf "$1" || sleep 0.05; i=$((i + 1)); done`;

/** Makes the folder, and starts what removes it. Folders whose server was killed together with that are removed first. */
export async function makeThrowawayFolder(uid: number, searchPath: string): Promise<ThrowawayFolder> {
  const base = await shortTemporaryFolder();
  const path = await mkdtemp(join(base, prefix));
  const remover = spawn({
    file: '/bin/sh',
    args: ['-c', removal, 'bulkhead', path],
    env: { PATH: searchPath },
    socket: true,
    onLine: () => {},
    orphanSignal: 'none',
  });
  // PostgreSQL runs as another user than root, and must pass.
  await chmod(path, uid === 0 ? 0o711 : 0o700);
  await removeAbandoned(base, { uid, except: path });
  return {
    path,
    dataDir: join(path, 'data'),
    remove: async () => {
      remover.socket?.end();
      await remover.exited;
      // It may have been killed.
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function shortTemporaryFolder(): Promise<string> {
  const own = await realpath(tmpdir());
  const isFit = Buffer.byteLength(own) <= maxPathBytes - prefix.length && !own.includes(',');
  return isFit ? own : await realpath('/tmp');
}

/** Removes the folders of this user that no server has locked any more. */
async function removeAbandoned(
  base: string,
  { uid, except }: { uid: number; except: string },
): Promise<void> {
  for (const name of (await readdir(base)).filter((entry) => entry.startsWith(prefix))) {
    const path = join(base, name);
    const found = await lstat(path).catch(() => undefined);
    const isOld = found !== undefined && Date.now() - found.mtimeMs > youngMs;
    if (path === except || !isOld || !found.isDirectory() || found.uid !== uid) continue;
    if (!isDataDirInUse(join(path, 'data'))) await rm(path, { recursive: true, force: true });
  }
}

/** A younger one may not have its lock yet. */
const youngMs = 60_000;
