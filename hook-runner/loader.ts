// Loads the app's files from memory and says of each that fails where and why.
import type { SourceMap } from 'node:module';
import { urlOf } from './addresses.ts';
import { fault, faultOf, faultWithin, isOfParser, messageOf, nameFiles, type Place } from './faults.ts';
import { Imports } from './imports.ts';
import type { SourceFile } from './protocol.ts';
import type { Fault } from './registrations.ts';
import { javaScriptOf, type ModuleApi, NotTypeScript } from './type-stripping.ts';
import { later, notLater, ownMap } from './untampered.ts';

/** What came of one file: null when it is live. */
export interface LoadedFile {
  readonly file: string;
  readonly fault: Fault | null;
}

interface Attempt {
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
  const sources = ownMap<string, string>();
  for (const { file, source } of files) sources.set(file, source);
  nameFiles(files.map(({ file }) => file));
  const imports = new Imports(sources);
  const served = serve(files, imports, api);
  let timer: ReturnType<typeof later> | undefined;
  const deadline = new Promise<'late'>((resolve) => {
    timer = later(() => resolve('late'), milliseconds);
  });
  const attempts = await Promise.all(files.map(({ file }) => attempt(file, deadline)));
  notLater(timer);
  return new Explanation(attempts, imports, served).files(milliseconds);
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
  const codes = ownMap<string, string>();
  const faults = ownMap<string, Fault>();
  const maps = ownMap<string, () => SourceMap>();
  for (const { file, source } of files) {
    const url = urlOf(file);
    try {
      const { code, map } = file.endsWith('.ts')
        ? javaScriptOf(source, url, api)
        : { code: source, map: null };
      codes.set(url, code);
      if (map !== null) maps.set(file, () => new api.SourceMap(map));
    } catch (error) {
      if (!(error instanceof NotTypeScript)) throw error;
      faults.set(file, fault(error.message, { file, line: error.line, column: error.column }));
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

async function attempt(file: string, deadline: Promise<'late'>): Promise<Attempt> {
  try {
    const ended = await Promise.race([import(urlOf(file)), deadline]);
    return { file, failure: null, isLate: ended === 'late' };
  } catch (thrown) {
    return { file, failure: { thrown }, isLate: false };
  }
}

/** Finds for each failure the words that help its author. */
class Explanation {
  readonly #attempts: readonly Attempt[];
  readonly #imports: Imports;
  readonly #served: Served;
  readonly #failed: ReadonlySet<string>;

  constructor(attempts: readonly Attempt[], imports: Imports, served: Served) {
    this.#attempts = attempts;
    this.#imports = imports;
    this.#served = served;
    this.#failed = new Set(
      attempts.filter(({ failure, isLate }) => failure !== null || isLate).map(({ file }) => file),
    );
  }

  files(milliseconds: number): LoadedFile[] {
    return this.#attempts.map((one) => ({ file: one.file, fault: this.#faultOf(one, milliseconds) }));
  }

  #faultOf({ file, failure, isLate }: Attempt, milliseconds: number): Fault | null {
    const known = this.#served.faults.get(file);
    if (known !== undefined) return known;
    if (isLate) return this.#blamed(file) ?? tooSlow(file, milliseconds);
    return failure === null ? null : this.#thrownIn(file, failure.thrown);
  }

  #thrownIn(file: string, thrown: unknown): Fault {
    const message = messageOf(thrown);
    const refused = this.#imports.refused(file, message);
    if (refused !== null) return fault(refused.refusal, refused.at);
    const found = faultOf(thrown, file);
    if (found.file !== file) return this.#blamed(file) ?? faultWithin(file, thrown);
    const place = isOfParser(thrown) ? this.#writtenAt({ ...found, file }) : { ...found, file };
    const { line, column } = place;
    return { ...found, line, column, message: `${found.message}${this.#hint(place, message)}` };
  }

  /** Where the author wrote what a parser stopped at in the code of their file: Deno maps stacks only. */
  #writtenAt({ file, line, column }: Place): Place {
    const map = this.#served.maps.get(file);
    if (map === undefined || line === null || column === null) return { file, line, column };
    const written = map().findEntry(line - 1, column - 1);
    if (!('originalLine' in written)) return { file, line: null, column: null };
    return { file, line: written.originalLine + 1, column: written.originalColumn + 1 };
  }

  /** The fault of a file that only suffers from one that it imports. */
  #blamed(file: string): Fault | null {
    const blame = this.#imports.blame(file, this.#failed);
    return blame === null ? null : fault(`${blame.import}, which it imports, did not load`, blame.at);
  }

  #hint(place: Place, message: string): string {
    if (message === 'Invalid or unexpected token' && this.#imports.letterAt(place) === '@') {
      return ' (hook files cannot have decorators)';
    }
    if (/ does not provide an export named /.test(message)) return ' (a type is imported with "import type")';
    const ring = / before initialization$/.test(message) ? this.#imports.ringOf(place.file) : null;
    return ring === null ? '' : ` (these files import each other in a ring: ${ring})`;
  }
}

function tooSlow(file: string, milliseconds: number): Fault {
  return fault(`its top-level code did not finish within ${milliseconds} ms`, {
    file,
    line: null,
    column: null,
  });
}
