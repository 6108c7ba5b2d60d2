// Removes blobs without a file: of uploads that a crash interrupted, and of deletions that the store failed.
import { setTimeout as pause } from 'node:timers/promises';
import { listSchemas } from '../workspace/apps.ts';
import type { Databases } from '../connections/databases.ts';
import { knownFiles } from '../app/files.ts';
import { listAssigned } from '../control/tenant-databases.ts';
import type { BlobLocation, BlobStore } from './blob-store.ts';

/** Options of a sweep. */
export interface SweepOptions {
  databases: Databases;
  blobs: BlobStore;
  now: () => Date;
  /** For this long, a blob without a row counts as an upload in progress. Milliseconds. */
  graceMs: number;
  /** The pause between two workspaces, so that requests come first. Milliseconds. */
  pauseMs: number;
  signal: AbortSignal;
}

const batch = 500;
const workspacesAtOnce = 200;

/**
 * Checks every workspace once; idempotent. It only removes what lies below a workspace of this server, since a bucket
 * may be shared. Returns the number of removed blobs. Throws what the store or the database throws; the error of one
 * workspace, when all others have been checked.
 */
export async function sweepBlobs(options: SweepOptions): Promise<number> {
  const { databases, pauseMs, signal } = options;
  let removed = 0;
  const failures: unknown[] = [];
  let after = '';
  for (;;) {
    const page = await databases.control.run((sql) => listAssigned(sql, { after, limit: workspacesAtOnce }));
    for (const database of page) {
      if (signal.aborted) return removed;
      removed += await sweepWorkspace(options, database).catch((error: unknown) => {
        failures.push(error);
        return 0;
      });
      await pause(pauseMs, undefined, { ref: false });
    }
    after = page.at(-1) ?? '';
    if (page.length < workspacesAtOnce) break;
  }
  const [first] = failures;
  if (failures.length > 0) {
    throw new Error(`${failures.length} workspaces are left, the first: ${String(first)}`, { cause: first });
  }
  return removed;
}

async function sweepWorkspace(options: SweepOptions, database: string): Promise<number> {
  const { databases, blobs } = options;
  const stored: string[] = [];
  for await (const schema of blobs.apps(database)) stored.push(schema);
  // Most have no files, and no connection is opened for those.
  if (stored.length === 0) return 0;
  const known = await databases.workspace(database).run(listSchemas);
  let removed = 0;
  for (const schema of stored) {
    if (known.has(schema)) {
      removed += await sweepApp(options, { database, schema });
    } else {
      await blobs.removeAll({ database, schema });
      removed++;
    }
  }
  return removed;
}

async function sweepApp(
  { databases, blobs, now, graceMs }: SweepOptions,
  place: BlobLocation,
): Promise<number> {
  const { database, schema } = place;
  const before = new Date(now().getTime() - graceMs);
  let removed = 0;
  const check = async (ids: readonly string[]) => {
    const known = await databases.app(database, schema).run((sql) => knownFiles(sql, schema, ids));
    for (const id of ids.filter((id) => !known.has(id))) {
      await blobs.remove({ database, schema, id });
      removed++;
    }
  };
  let old: string[] = [];
  for await (const { id, modified } of blobs.list(place, before)) {
    if (modified >= before) continue;
    old.push(id);
    if (old.length < batch) continue;
    await check(old);
    old = [];
  }
  if (old.length > 0) await check(old);
  return removed;
}
