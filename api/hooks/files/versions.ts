// The versions of hook files that loaded last, in the database of the app: they outlive the process, and all processes share them.
import type { FileRegistrations } from '../../../hook-runner/registrations.ts';
import {
  deleteHookVersion,
  type HookVersion,
  listHookVersions,
  lockHookVersions,
  putHookVersion,
  readHookSources,
} from '../../../storage/app/hook-versions.ts';
import type { AppIdentity } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import { logFailure } from '../../logging/events.ts';
import { digest, type FileVersion, printOf } from './file-version.ts';
import { hookFolder, maxFolderBytes, readFolder } from './folder.ts';

/** Most bytes of all versions of an app: of the files that load, and of those that others stand in for. */
const maxVersionBytes = 2 * maxFolderBytes;

/** A version that loads, and what it registers. */
export interface RegisteredVersion extends FileVersion {
  readonly registrations: FileRegistrations;
}

/** The version of a file that loaded last. */
export interface LoadedVersion extends RegisteredVersion {
  /** When it loaded first. */
  readonly loadedAt: Date;
  /** False where there was no room for its source: it cannot run again, and what it registered is refused while nothing does. */
  readonly hasSource: boolean;
}

/** What a load has found out. */
export interface LoadedCode {
  /** The names of all files. */
  names: ReadonlySet<string>;
  /** The versions that were stored before. */
  versions: readonly LoadedVersion[];
  /** The state of the folder that was loaded. */
  folderPrint: string;
  /** The files that run as they are. */
  loaded: readonly RegisteredVersion[];
}

/** Reads the versions that loaded last, where `current` are the files as they are. */
export async function readVersions(
  { databases }: Pick<Deps, 'databases'>,
  { workspace, schema }: AppIdentity,
  current: readonly FileVersion[],
): Promise<LoadedVersion[]> {
  return await databases.app(workspace.database, schema).run(async (sql) => {
    const rows = await listHookVersions(sql, schema);
    const sources = new Map(current.map(({ file, source }) => [file, source]));
    const digests = new Map(current.map(({ file, sha256 }) => [file, sha256]));
    const others = rows.filter(({ filename, sha256 }) => digests.get(filename) !== sha256);
    const read = others.length === 0
      ? []
      : await readHookSources(sql, schema, others.map(({ filename }) => filename));
    for (const { filename, source } of read) sources.set(filename, source.toString('utf8'));
    return rows.flatMap((row) => toLoadedVersion(row, sources.get(row.filename)));
  });
}

/** None for one that was replaced while it was read: by another load, which is followed by one here. */
function toLoadedVersion(
  { filename: file, sha256, registrations, loaded_at: loadedAt, has_source }: HookVersion,
  source: string | undefined,
): LoadedVersion[] {
  const hasSource = source !== undefined && digest(source) === sha256;
  if (has_source && !hasSource) return [];
  const registered: FileRegistrations = JSON.parse(registrations);
  return [{ file, source: source ?? '', sha256, registrations: registered, loadedAt, hasSource }];
}

/** An app, and what its last load has found out until that is stored. */
export interface UnsavedVersions {
  readonly app: AppIdentity;
  unsaved: LoadedCode | undefined;
}

/** Stores the versions that load. */
export class VersionStore {
  readonly #deps: Pick<Deps, 'databases' | 'config' | 'observe' | 'now'>;

  constructor(deps: Pick<Deps, 'databases' | 'config' | 'observe' | 'now'>) {
    this.#deps = deps;
  }

  /** Stores what the last load of an app has found out, unless that has been done. Never throws. */
  async save(hooks: UnsavedVersions): Promise<void> {
    const { app, unsaved } = hooks;
    if (unsaved === undefined) return;
    try {
      if (!isStored(unsaved)) await this.#store(app, unsaved);
      if (hooks.unsaved === unsaved) hooks.unsaved = undefined;
    } catch (error) {
      logFailure(this.#deps, 'keep the versions of hooks that load')(error);
    }
  }

  async #store(app: AppIdentity, { names, versions, loaded, folderPrint }: LoadedCode): Promise<void> {
    const { databases, config, now } = this.#deps;
    const { workspace, schema } = app;
    await databases.app(workspace.database, schema).transaction(async (sql) => {
      await lockHookVersions(sql, schema);
      // A process that is behind must not replace what a newer file has left here: it loads that file soon.
      if (printOf(await readFolder(hookFolder(config, app))) !== folderPrint) return;
      for (const { file } of versions) if (!names.has(file)) await deleteHookVersion(sql, schema, file);
      for (const { file: filename, source, sha256, registrations } of loaded) {
        await putHookVersion(sql, schema, {
          ...{ filename, sha256, source: Buffer.from(source), registrations: JSON.stringify(registrations) },
          ...{ loaded_at: now(), maxBytes: maxVersionBytes },
        });
      }
    });
  }
}

function isStored({ names, versions, loaded }: LoadedCode): boolean {
  const known = new Map(versions.map((version) => [version.file, version]));
  return versions.every(({ file }) => names.has(file)) && loaded.every(({ file, sha256, registrations }) => {
    const version = known.get(file);
    return version?.sha256 === sha256 &&
      JSON.stringify(version.registrations) === JSON.stringify(registrations);
  });
}
