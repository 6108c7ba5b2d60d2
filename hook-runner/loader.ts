// Loads the app's files from memory and says of each that fails where and why.
import { urlOf } from './addresses.ts';
import { fault, faultOf, faultWithin, messageOf, nameFiles } from './faults.ts';
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
  const faults = serve(files, imports, api);
  let timer: ReturnType<typeof later> | undefined;
  const deadline = new Promise<'late'>((resolve) => {
    timer = later(() => resolve('late'), milliseconds);
  });
  const attempts = await Promise.all(files.map(({ file }) => attempt(file, deadline)));
  notLater(timer);
  return new Explanation(attempts, imports, faults).files(milliseconds);
}

/** Hands the code of the files to Deno's module loader. Returns the faults of those that are not even code. */
function serve(files: readonly SourceFile[], imports: Imports, api: ModuleApi): Map<string, Fault> {
  const codes = ownMap<string, string>();
  const faults = ownMap<string, Fault>();
  for (const { file, source } of files) {
    const url = urlOf(file);
    try {
      codes.set(url, file.endsWith('.ts') ? javaScriptOf(source, url, api) : source);
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
    load: (url) => ({
      format: 'module',
      source: codes.get(url) ?? refusingCode(imports.refusalAt(url) ?? 'that file did not load'),
      shortCircuit: true,
    }),
  });
  return faults;
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
  readonly #faults: ReadonlyMap<string, Fault>;
  readonly #failed: ReadonlySet<string>;

  constructor(attempts: readonly Attempt[], imports: Imports, faults: ReadonlyMap<string, Fault>) {
    this.#attempts = attempts;
    this.#imports = imports;
    this.#faults = faults;
    this.#failed = new Set(
      attempts.filter(({ failure, isLate }) => failure !== null || isLate).map(({ file }) => file),
    );
  }

  files(milliseconds: number): LoadedFile[] {
    return this.#attempts.map((one) => ({ file: one.file, fault: this.#faultOf(one, milliseconds) }));
  }

  #faultOf({ file, failure, isLate }: Attempt, milliseconds: number): Fault | null {
    const known = this.#faults.get(file);
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
    return { ...found, message: `${found.message}${this.#hint(file, message)}` };
  }

  /** The fault of a file that only suffers from one that it imports. */
  #blamed(file: string): Fault | null {
    const blame = this.#imports.blame(file, this.#failed);
    return blame === null ? null : fault(`${blame.import}, which it imports, did not load`, blame.at);
  }

  #hint(file: string, message: string): string {
    if (/ does not provide an export named /.test(message)) return ' (a type is imported with "import type")';
    const ring = / before initialization$/.test(message) ? this.#imports.ringOf(file) : null;
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
