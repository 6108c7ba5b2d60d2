// Loads the app's files from memory and says of each that fails where and why.
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
import { Imports } from './imports.ts';
import type { SourceFile } from './protocol.ts';
import type { Fault } from './registrations.ts';
import { type ModuleApi, stripTypes, TypeScriptError } from './type-stripping.ts';
import { safeMap, startTimer, stopTimer } from './untampered.ts';

/** What came of one file: null when it is live. */
export interface LoadedFile {
  readonly file: string;
  readonly fault: Fault | null;
}

interface LoadAttempt {
  readonly file: string;
  readonly failure: { readonly thrown: unknown } | null;
  readonly isLate: boolean;
}

/**
 * Loads all files, each of which may import the others. Top-level code that has not finished after `milliseconds` is a
 * fault of its file; the others are not held up by it.
 */
export async function loadFiles(
  files: readonly SourceFile[],
  milliseconds: number,
  api: ModuleApi,
): Promise<LoadedFile[]> {
  const sources = safeMap<string, string>();
  for (const { file, source } of files) sources.set(file, source);
  registerFileNames(files.map(({ file }) => file));
  const imports = new Imports(sources);
  const served = serve(files, imports, api);
  let timer: ReturnType<typeof startTimer> | undefined;
  const deadline = new Promise<'late'>((resolve) => {
    timer = startTimer(() => resolve('late'), milliseconds);
  });
  const attempts = await Promise.all(files.map(({ file }) => attempt(file, deadline)));
  stopTimer(timer);
  return new FailureReport(attempts, imports, served).describeAll(milliseconds);
}

/** What is known of the files before any is loaded. */
interface Served {
  /** Of those that are not even code. */
  readonly faults: Map<string, Fault>;
  /** Read the source maps of those that had to be rewritten. */
  readonly maps: Map<string, () => SourceMap>;
}

/** Hands the code of the files to Deno's module loader. */
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

/** Code that refuses with a message. Asked for as a text or as JSON it would not be run, so that is refused at once. */
function refusal(message: string, { type }: Readonly<Record<string, string | undefined>>): string {
  if (type !== undefined) throw new Error(message);
  return refusingCode(message);
}

function refusingCode(message: string): string {
  return `throw new Error(${JSON.stringify(message)});`;
}

async function attempt(file: string, deadline: Promise<'late'>): Promise<LoadAttempt> {
  try {
    const ended = await Promise.race([import(fileUrl(file)), deadline]);
    return { file, failure: null, isLate: ended === 'late' };
  } catch (thrown) {
    return { file, failure: { thrown }, isLate: false };
  }
}

/** Finds for each failure the words that help its author. */
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
      attempts.filter(({ failure, isLate }) => failure !== null || isLate).map(({ file }) => file),
    );
  }

  describeAll(milliseconds: number): LoadedFile[] {
    return this.#attempts.map((one) => ({ file: one.file, fault: this.#findFault(one, milliseconds) }));
  }

  #findFault({ file, failure, isLate }: LoadAttempt, milliseconds: number): Fault | null {
    const known = this.#served.faults.get(file);
    if (known !== undefined) return known;
    if (isLate) return this.#importFault(file) ?? tooSlow(file, milliseconds);
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

  /** Where the author wrote what a parser stopped at in the code of their file: Deno maps stacks only. */
  #mapPosition({ file, line, column }: SourcePosition): SourcePosition {
    const map = this.#served.maps.get(file);
    if (map === undefined || line === null || column === null) return { file, line, column };
    const written = map().findEntry(line - 1, column - 1);
    if (!('originalLine' in written)) return { file, line: null, column: null };
    return { file, line: written.originalLine + 1, column: written.originalColumn + 1 };
  }

  /** The fault of a file that only suffers from one that it imports. */
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

function tooSlow(file: string, milliseconds: number): Fault {
  return makeFault(`its top-level code did not finish within ${milliseconds} ms`, {
    file,
    line: null,
    column: null,
  });
}
