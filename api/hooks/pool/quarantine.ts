// Hook files whose top-level code takes the whole runner down or never lets go of it: found, and left out until they change,
// as a file with any other fault is.
import { createHash } from 'node:crypto';
import type { SourceFile } from '../../../hook-runner/protocol.ts';
import { type Generation, LoadFailed } from './generation.ts';
import type { FileFault } from '../ports.ts';

type Load = (files: readonly SourceFile[]) => Promise<Generation>;

/** Each costs an author's time limit to find, and counts as a crash. */
const mostGuilty = 2;

/** What is known of the files of one app. */
export class Suspects {
  /** Why, by what tells files and their states apart. */
  readonly #guilty = new Map<string, string>();
  /** What has loaded before is not what keeps the rest from it. */
  readonly #innocent = new Set<string>();

  /** Every file gets another chance. */
  forgive(): void {
    this.#guilty.clear();
  }

  /**
   * Loads the files without those that must be left out; undefined when none is left. Throws what `load` throws when nothing
   * says which file is to blame.
   */
  async open(files: readonly SourceFile[], load: Load): Promise<Generation | undefined> {
    for (let found = 0;; found++) {
      const chosen = files.filter((file) => !this.#guilty.has(keyOf(file)));
      if (chosen.length === 0) return undefined;
      try {
        return await this.#loadOrAgain(chosen, load);
      } catch (error) {
        if (!isOfCode(error) || found === mostGuilty) throw error;
        const guilty = await this.#find(chosen, load);
        if (guilty === undefined) throw error;
        this.#guilty.set(keyOf(guilty), error.message);
      }
    }
  }

  /** Faults of the files that were left out. */
  faults(files: readonly SourceFile[]): FileFault[] {
    return files.flatMap((source) => {
      const why = this.#guilty.get(keyOf(source));
      const message = `its top-level code ended or held up the whole process: ${why ?? ''}`;
      return why === undefined ? [] : [{ file: source.file, message, line: null, column: null }];
    });
  }

  /** The first of them with which those before it do not load any more. */
  async #find(files: readonly SourceFile[], load: Load): Promise<SourceFile | undefined> {
    const suspects = files.filter((file) => !this.#innocent.has(keyOf(file)));
    const others = files.filter((file) => this.#innocent.has(keyOf(file)));
    let [good, bad] = [0, suspects.length];
    while (bad - good > 1) {
      const middle = Math.floor((good + bad) / 2);
      if (await this.#loads([...others, ...suspects.slice(0, middle)], load)) good = middle;
      else bad = middle;
    }
    return suspects[bad - 1];
  }

  async #loads(files: readonly SourceFile[], load: Load): Promise<boolean> {
    try {
      (await this.#load(files, load)).close();
      return true;
    } catch (error) {
      if (!isOfCode(error)) throw error;
      return false;
    }
  }

  /** Where nothing has loaded before, all get a second chance: a machine that is busy must not cost an app its vetoes. */
  async #loadOrAgain(files: readonly SourceFile[], load: Load): Promise<Generation> {
    try {
      return await this.#load(files, load);
    } catch (error) {
      if (!isOfCode(error) || files.some((file) => this.#innocent.has(keyOf(file)))) throw error;
      return await this.#load(files, load);
    }
  }

  async #load(files: readonly SourceFile[], load: Load): Promise<Generation> {
    const generation = await load(files);
    this.#innocent.clear();
    for (const file of files) this.#innocent.add(keyOf(file));
    return generation;
  }
}

function isOfCode(error: unknown): error is LoadFailed {
  return error instanceof LoadFailed && error.isOfCode;
}

function keyOf({ file, source }: SourceFile): string {
  return `${file} ${createHash('sha256').update(source).digest('hex')}`;
}
