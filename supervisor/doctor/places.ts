// `bulkhead doctor`: the folders of the server: whose they are, who may write there, and how much room there is.
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, systemErrorCode } from '../errors.ts';
import { decodeMasterKey, openMasterKey } from '../master-key.ts';
import { clusterFolder } from '../postgres/cluster.ts';
import type { Config } from '../protocol.ts';
import { isReservedForApi } from '../reserved-users.ts';
import { failed, ok, warning } from './finding.ts';
import type { Finding } from './protocol.ts';

const mebibyte = 1_048_576;

/** The nearest folder that is there: the path itself, or one above it. */
async function nearest(path: string): Promise<string> {
  return await stat(path).then(() => path, () => nearest(dirname(path)));
}

/** A folder that the server writes to, or makes. */
export async function checkFolder(check: string, path: string): Promise<Finding> {
  const uid = process.getuid?.() ?? 0;
  try {
    const there = await nearest(path);
    const found = await stat(there);
    if (!found.isDirectory()) {
      return failed(check, `${there} is no folder`, `move it away, or set ${check} to another path`);
    }
    const isThere = there === path;
    if (isThere && uid !== 0 && found.uid !== uid) {
      return failed(
        check,
        `${path} belongs to another user (uid ${found.uid}, and this is uid ${uid})`,
        `run as that user, or give the folder away: chown -R ${uid} ${path}`,
      );
    }
    await access(there, constants.R_OK | constants.W_OK | constants.X_OK);
    if (isThere && uid === 0 && found.uid !== 0 && !isReservedForApi(found.uid)) {
      return foreignOwner(check, path, found.uid);
    }
    return ok(check, isThere ? path : `${path}, which the first start makes`);
  } catch (error) {
    const what = systemErrorCode(error) === 'EROFS'
      ? 'is on a read-only file system'
      : 'cannot be written to';
    return failed(
      check,
      `${path} ${what}: ${messageOf(error)}`,
      `make it writable, or set ${check} to another path`,
    );
  }
}

function foreignOwner(check: string, path: string, owner: number): Finding {
  return warning(
    check,
    `${path} belongs to uid ${owner}, who cannot read what a server of root writes there`,
    'start the server as that user only',
  );
}

/** What is in the data directory: the cluster, and the mark of a database that is gone. */
export async function checkCluster({ data_dir, database }: Config): Promise<Finding | undefined> {
  const cluster = clusterFolder(data_dir);
  const uid = process.getuid?.() ?? 0;
  const found = await stat(cluster).catch(() => undefined);
  if (found !== undefined && database.url === '' && uid !== 0 && found.uid !== uid) {
    return failed(
      'postgresql',
      `${cluster} belongs to another user (uid ${found.uid})`,
      `start the server as root or as that user`,
    );
  }
  if (found === undefined && database.url === '' && existsSync(join(data_dir, 'served'))) {
    return failed(
      'postgresql',
      `${data_dir} was in use, and its database is gone`,
      `set database.url if the server had one, or restore ${cluster}`,
    );
  }
  return undefined;
}

/** The room on the disks of these folders, which tenants get as far as the reserve leaves it to them. */
export async function checkDisk({ data_dir, hooks, storage }: Config): Promise<Finding> {
  const folders = [data_dir, clusterFolder(data_dir), join(data_dir, 'blobs'), hooks.dir];
  const disks = await Promise.all(folders.map(async (folder) => {
    const there = await nearest(folder);
    const { bavail, bsize, files, ffree } = await statfs(there);
    return { there, free: Math.floor(bavail * bsize / mebibyte), isOutOfNames: files > 0 && ffree === 0 };
  }));
  const full = disks.find(({ free, isOutOfNames }) => isOutOfNames || free === 0);
  if (full !== undefined) {
    const what = full.isOutOfNames ? 'has no inode left' : 'is full';
    return failed(
      'disk',
      `the disk of ${full.there} ${what}`,
      'remove files there, or give it a larger disk',
    );
  }
  const least = disks.toSorted((a, b) => a.free - b.free)[0];
  if (least === undefined) return ok('disk', 'no folder is on a disk');
  const message = `${least.free} MB are free on the disk of ${least.there}`;
  return least.free > storage.reserve_mb ? ok('disk', message) : failed(
    'disk',
    `${message}, and tenants have to leave ${storage.reserve_mb} MB free (storage.reserve_mb)`,
    'remove files there, give it a larger disk, or lower storage.reserve_mb',
  );
}

/** The master key as it is stored. Nothing is made. */
export async function checkMasterKey(
  { data_dir, secrets }: Config,
): Promise<Finding & { key: Buffer | null }> {
  const file = join(data_dir, 'master.key');
  const isKnown = existsSync(`${file}.check`);
  const configured = secrets.master_key;
  if (!isKnown) {
    const text = configured === '' ? await readFile(file, 'utf8').catch(() => '') : configured;
    const message = text === ''
      ? 'the first start makes one'
      : configured === ''
      ? file
      : 'secrets.master_key';
    return { ...ok('master_key', message), key: decodeMasterKey(text.trim()) ?? null };
  }
  try {
    const key = await openMasterKey(data_dir, configured);
    return { ...ok('master_key', configured === '' ? file : 'secrets.master_key'), key };
  } catch (error) {
    const advice = `only the right key opens ${data_dir}: take it from a backup`;
    return { ...failed('master_key', messageOf(error), advice), key: null };
  }
}
