// The parts of one process that its reads and writes of records share.
import { KeyedMutex } from '../../storage/concurrency/keyed-mutex.ts';
import type { Deps } from '../deps.ts';
import { snapshotCache, trackingCache } from './cache/record-cache.ts';
import { fail } from '../errors.ts';
import type { FileLinks, UnheldFiles } from './ports.ts';
import { Imports } from './transfer/imports.ts';
import { type TrackerParts, WriteTracker } from './cache/write-tracker.ts';

/**
 * How long a write waits for others of the same record. Some take seconds, to find out whether a rule admits them, and must
 * not hold up everybody else: a write that overtakes one of them waits for no lock of it.
 */
const maxWaitMs = 1_000;
/** The same for updates whose hooks run one after another: as long as hooks of one may take. */
const maxHookWaitMs = 30_000;

/** The dependencies of the parts. */
export interface RecordParts extends Pick<Deps, 'definitions'> {
  /** See `TrackerParts`. Given to the only process that writes, on a cluster of its own: it knows of every write. */
  settled?: TrackerParts['settled'] | undefined;
  /** Left out by what stores no files: they then stay. */
  files?: UnheldFiles;
  /** Left out by what shows no files. */
  links?: FileLinks;
}

/** Puts the parts together. */
export function createRecords(
  { definitions, settled, files, links }: RecordParts,
): Pick<Deps, 'recordCache' | 'writeOrder' | 'hookOrder' | 'unheldFiles' | 'fileLinks' | 'imports'> {
  return {
    recordCache: settled === undefined ? snapshotCache() : trackingCache(
      new WriteTracker({
        isCurrent: (app) => definitions.peekApp(app.workspace.id, app.id) === app,
        settled,
      }),
    ),
    writeOrder: new KeyedMutex({ maxWaitMs }),
    hookOrder: new KeyedMutex({ maxWaitMs: maxHookWaitMs }),
    unheldFiles: files ?? { remove: () => Promise.resolve(), removeIds: () => Promise.resolve() },
    fileLinks: links ?? { show: () => fail('internal', 'this process shows no files') },
    imports: new Imports(),
  };
}
