// Which version of each hook file runs: the file as it is, or, where that does not load, the version that loaded last.
import type { FileRegistrations } from '../../../hook-runner/registrations.ts';
import type { CodeSnapshot } from '../files/code-snapshot.ts';
import { loadFaults } from '../files/faults.ts';
import type { FileVersion } from '../files/file-version.ts';
import type { LoadedVersion, RegisteredVersion } from '../files/versions.ts';
import type { FileFault } from '../ports.ts';
import type { Generation } from './generation.ts';
import { LoadFailed } from './load.ts';

/** A runner with versions of an app's files, and the faults of those that it has left out. */
export interface OpenedCode {
  /** Undefined where every file is left out. */
  generation: Generation | undefined;
  faults: readonly FileFault[];
}

/** The code that runs. */
export interface BestCode {
  generation: Generation | undefined;
  /** The files that run as they are. */
  loaded: readonly RegisteredVersion[];
  /** The versions that run in place of files that do not load. */
  older: readonly LoadedVersion[];
  /** See `Registrations`. */
  broken: readonly FileRegistrations[];
  /** Of the files as they are. */
  faults: FileFault[];
}

/** Starts and ends runners. */
export interface CodeOpener {
  /** Loads these versions, or finds a runner that has; `isFirst` for the files as they are. Throws `RunnerRefused`, `LoadFailed`. */
  open(files: readonly FileVersion[], isFirst: boolean): Promise<OpenedCode>;
  /** Ends a runner that will not be used. */
  discard(generation: Generation | undefined): void;
}

/** Some versions, and what came of them. */
interface Attempt extends OpenedCode {
  files: readonly FileVersion[];
  running: readonly FileVersion[];
  /** Why nothing of them loaded. */
  error?: LoadFailed;
}

/**
 * Loads the files as they are. Where one that has loaded before is not among those that load then, tries the version of it
 * that did, and at last those that ran together. Throws `RunnerRefused`, and `LoadFailed` where nothing loads.
 */
export async function openBest(snapshot: CodeSnapshot, opener: CodeOpener): Promise<BestCode> {
  const { files, readFaults, names } = snapshot;
  // Those of a file that is deleted do not run on.
  const versions = snapshot.versions.filter(({ file }) => names.has(file));
  const first = await attempt(files, (those) => opener.open(those, true));
  const best = await findBetter(first, { files, versions, opener });
  if (best.error !== undefined) throw best.error;
  const faults = [...readFaults, ...first.faults];
  const blamed = missingFrom(first, versions).map(({ file }) => file).join(', ');
  const message = `is left out: with it, these do not load: ${blamed}`;
  const leftOut = files.filter((file) =>
    !runs(best, file) && !faults.some((fault) => fault.file === file.file)
  )
    .map(({ file }): FileFault => ({ file, message, line: null, column: null }));
  const registered = new Map(best.generation?.loaded.files.map((file) => [file.file, file]));
  return {
    generation: best.generation,
    loaded: files.filter((file) => runs(best, file)).flatMap((file) => {
      const registrations = registered.get(file.file);
      return registrations === undefined ? [] : [{ ...file, registrations }];
    }),
    older: versions.filter((version) => runs(best, version) && !files.some(isSame(version))),
    broken: missingFrom(best, versions).map(({ registrations }) => registrations),
    faults: [...faults, ...leftOut],
  };
}

/** The attempt after which the fewest files are missing that have loaded before; of several such, the first. */
async function findBetter(
  first: Attempt,
  { files, versions, opener }: {
    files: readonly FileVersion[];
    versions: readonly LoadedVersion[];
    opener: CodeOpener;
  },
): Promise<Attempt> {
  let best = first;
  const missing = missingFrom(first, versions);
  const hasSource = (version: LoadedVersion) => version.hasSource;
  const mixed = [...first.running, ...missing.filter(hasSource)].sort((a, b) => a.file < b.file ? -1 : 1);
  const tried = new Set([printOf(files)]);
  for (const candidate of [mixed, versions.filter(hasSource)]) {
    const print = printOf(candidate);
    if (missingFrom(best, versions).length === 0 || tried.has(print)) continue;
    tried.add(print);
    // There may be no room for one more.
    opener.discard(best.generation);
    const next = await attempt(candidate, (those) => opener.open(those, false));
    const isBetter = missingFrom(next, versions).length < missingFrom(best, versions).length;
    if (!isBetter) opener.discard(next.generation);
    best = isBetter ? next : await attempt(best.files, (those) => opener.open(those, false));
  }
  return best;
}

async function attempt(
  files: readonly FileVersion[],
  open: (files: readonly FileVersion[]) => Promise<OpenedCode>,
): Promise<Attempt> {
  try {
    const opened = await open(files);
    const loaded = new Set(opened.generation?.loaded.files.map(({ file }) => file));
    return { ...opened, files, running: files.filter(({ file }) => loaded.has(file)) };
  } catch (error) {
    if (!(error instanceof LoadFailed && error.isOfCode)) throw error;
    const faults = loadFaults(error, error.message, files);
    return { generation: undefined, files, running: [], faults, error };
  }
}

/** The files that have loaded before and do not run. */
function missingFrom({ running }: Attempt, versions: readonly LoadedVersion[]): LoadedVersion[] {
  return versions.filter((version) => !running.some(({ file }) => file === version.file));
}

function runs({ running }: Attempt, version: FileVersion): boolean {
  return running.some(isSame(version));
}

function isSame({ file, sha256 }: FileVersion): (other: FileVersion) => boolean {
  return (other) => other.file === file && other.sha256 === sha256;
}

function printOf(files: readonly FileVersion[]): string {
  return JSON.stringify(files.map(({ file, sha256 }) => [file, sha256]));
}
