// Loads the app's files from memory, one after another, and describes why and where a file fails.
import type { SourceMap } from 'node:module';
import { fileUrl } from './addresses.ts';
import {
  describeThrown,
  faultWithin,
  isParseError,
  makeFault,
  registerFileNames,
  type SourcePosition,
  thrownMessage,
} from './faults.ts';
import { importedFirst, Imports } from './imports.ts';
import type { SourceFile } from './protocol.ts';
import type { Fault } from './registrations.ts';
import { type ModuleApi, stripTypes, TypeScriptError } from './type-stripping.ts';
import { OriginalPromise, safeMap, startTimer, withoutPrototype } from './untampered.ts';

/** The outcome for one file: a fault, or null when the file is live. */
export interface LoadedFile {
  readonly file: string;
  readonly fault: Fault | null;
}

/** How files are loaded. */
export interface LoadOptions {
  /** Top-level code that has not finished by then is a fault of its file. */
  readonly timeoutMs: number;
  readonly api: ModuleApi;
  /** Called with the files whose top-level code is under way, whenever they are others. */
  readonly onProgress: (underWay: readonly string[]) => void;
}

/** The top-level code of one file: under way, and at last ended or given up. */
interface LoadAttempt {
  readonly file: string;
  failure: { readonly thrown: unknown } | null;
  isUnderWay: boolean;
}

/** Loads all files, each of which may import the others. One whose top-level code waits does not hold up the others. */
export async function loadFiles(
  files: readonly SourceFile[],
  { timeoutMs, api, onProgress }: LoadOptions,
): Promise<LoadedFile[]> {
  const sources = safeMap<string, string>();
  for (const { file, source } of files) sources.set(file, source);
  registerFileNames(files.map(({ file }) => file));
  const imports = new Imports(sources);
  const served = serve(files, imports, api);
  const attempts = safeMap<string, LoadAttempt>();
  for (const { file } of files) attempts.set(file, { file, failure: null, isUnderWay: false });
  await evaluate(importedFirst(files).flatMap((file) => attempts.get(file) ?? []), timeoutMs, onProgress);
  return new FailureReport([...attempts.values()], imports, served).describeAll(timeoutMs);
}

/** The state of the files before any is loaded. */
interface Served {
  /** The faults of files that do not parse as TypeScript. */
  readonly faults: Map<string, Fault>;
  /** Readers of the source maps of files that were rewritten. */
  readonly maps: Map<string, () => SourceMap>;
}

/** Registers the code of the files with Deno's module loader. */
function serve(files: readonly SourceFile[], imports: Imports, api: ModuleApi): Served {
  const codes = safeMap<string, string>();
  const faults = safeMap<string, Fault>();
  const maps = safeMap<string, () => SourceMap>();
  for (const { file, source } of files) {
    const url = fileUrl(file);
    try {
      const { code, map } = file.endsWith('.ts') ? stripTypes(source, url, api) : { code: source, map: null };
      codes.set(url, code);
      if (map !== null) maps.set(file, () => new api.SourceMap(map));
    } catch (error) {
      if (!(error instanceof TypeScriptError)) throw error;
      faults.set(file, makeFault(error.message, { file, line: error.line, column: error.column }));
    }
  }
  api.registerHooks({
    resolve: (specifier, { parentURL }) => ({
      url: imports.resolve(specifier, parentURL),
      shortCircuit: true,
    }),
    load: (url, { importAttributes }) => ({
      format: 'module',
      source: codes.get(url) ?? refusal(imports.refusalAt(url) ?? 'that file did not load', importAttributes),
      shortCircuit: true,
    }),
  });
  return { faults, maps };
}

/** Code that throws a message. An import as text or JSON would not run it, so that throws at once. */
function refusal(message: string, { type }: Readonly<Record<string, string | undefined>>): string {
  if (type !== undefined) throw new Error(message);
  return refusingCode(message);
}

function refusingCode(message: string): string {
  return `throw new Error(${JSON.stringify(message)});`;
}

/**
 * Runs top-level code, of one file at a time for as long as it does not wait long: when the process ends or gets stuck, the
 * last report says in which file that was.
 */
async function evaluate(
  attempts: readonly LoadAttempt[],
  timeoutMs: number,
  onProgress: LoadOptions['onProgress'],
): Promise<void> {
  const deadline = after(timeoutMs);
  const share = timeoutMs / (attempts.length + 1);
  let isOver = false;
  const report = () => {
    if (!isOver) onProgress(filesUnderWay(attempts));
  };
  const runs: Promise<void>[] = [];
  for (const attempt of attempts) {
    attempt.isUnderWay = true;
    report();
    const run = runOne(attempt, report);
    runs[runs.length] = run;
    await either(run, after(share));
  }
  for (const run of runs) await either(run, deadline);
  isOver = true;
}

async function runOne(attempt: LoadAttempt, report: () => void): Promise<void> {
  const { file } = attempt;
  try {
    await import(fileUrl(file));
  } catch (thrown) {
    attempt.failure = { thrown };
  }
  attempt.isUnderWay = false;
  report();
}

function filesUnderWay(attempts: readonly LoadAttempt[]): readonly string[] {
  const files: string[] = withoutPrototype([]);
  let count = 0;
  for (const { file, isUnderWay } of attempts) if (isUnderWay) files[count++] = file;
  return files;
}

function after(timeoutMs: number): Promise<void> {
  return new OriginalPromise((resolve) => void startTimer(resolve, timeoutMs));
}

/** Resolves with the first of two. Without `Promise.race`, which a file that has run may have replaced. */
function either(one: Promise<void>, other: Promise<void>): Promise<void> {
  return new OriginalPromise((resolve) => {
    for (const each of [one, other]) {
      const pass = async () => {
        await each;
        resolve();
      };
      void pass();
    }
  });
}

/** Describes each failure so that the author can fix it. */
class FailureReport {
  readonly #attempts: readonly LoadAttempt[];
  readonly #imports: Imports;
  readonly #served: Served;
  readonly #failed: ReadonlySet<string>;

  constructor(attempts: readonly LoadAttempt[], imports: Imports, served: Served) {
    this.#attempts = attempts;
    this.#imports = imports;
    this.#served = served;
    this.#failed = new Set(
      attempts.filter(({ failure, isUnderWay }) => failure !== null || isUnderWay).map(({ file }) => file),
    );
  }

  describeAll(timeoutMs: number): LoadedFile[] {
    return this.#attempts.map((one) => ({ file: one.file, fault: this.#findFault(one, timeoutMs) }));
  }

  #findFault({ file, failure, isUnderWay }: LoadAttempt, timeoutMs: number): Fault | null {
    const known = this.#served.faults.get(file);
    if (known !== undefined) return known;
    if (isUnderWay) return this.#importFault(file) ?? tooSlow(file, timeoutMs);
    return failure === null ? null : this.#describeFailure(file, failure.thrown);
  }

  #describeFailure(file: string, thrown: unknown): Fault {
    const message = thrownMessage(thrown);
    const refused = this.#imports.findRefusedImport(file, message);
    if (refused !== null) return makeFault(refused.refusal, refused.at);
    const found = describeThrown(thrown, file);
    if (found.file !== file) return this.#importFault(file) ?? faultWithin(file, thrown);
    const place = isParseError(thrown) ? this.#mapPosition({ ...found, file }) : { ...found, file };
    const { line, column } = place;
    return { ...found, line, column, message: `${found.message}${this.#hint(place, message)}` };
  }

  /** Maps a position in rewritten code to the author's text. Deno maps stacks, but not the positions of syntax errors. */
  #mapPosition({ file, line, column }: SourcePosition): SourcePosition {
    const map = this.#served.maps.get(file);
    if (map === undefined || line === null || column === null) return { file, line, column };
    const written = map().findEntry(line - 1, column - 1);
    if (!('originalLine' in written)) return { file, line: null, column: null };
    return { file, line: written.originalLine + 1, column: written.originalColumn + 1 };
  }

  /** The fault of a file that failed because a file that it imports did. */
  #importFault(file: string): Fault | null {
    const blame = this.#imports.findFailedImport(file, this.#failed);
    return blame === null ? null : makeFault(`${blame.import}, which it imports, did not load`, blame.at);
  }

  #hint(place: SourcePosition, message: string): string {
    if (message === 'Invalid or unexpected token' && this.#imports.characterAt(place) === '@') {
      return ' (hook files cannot have decorators)';
    }
    if (/ does not provide an export named /.test(message)) return ' (a type is imported with "import type")';
    const ring = / before initialization$/.test(message) ? this.#imports.findCycle(place.file) : null;
    return ring === null ? '' : ` (these files import each other in a ring: ${ring})`;
  }
}

function tooSlow(file: string, timeoutMs: number): Fault {
  return makeFault(`its top-level code did not finish within ${timeoutMs} ms`, {
    file,
    line: null,
    column: null,
  });
}
