// Hook files that are left out of the loads of their app, because their top-level code ends the runner or never lets go of it.
import { createHash } from 'node:crypto';
import type { SourceFile } from '../../../hook-runner/protocol.ts';
import type { FileFault } from '../ports.ts';
import type { Generation } from './generation.ts';
import { LoadFailed } from './load.ts';

/** Files that one load leaves out. Each costs an author's time limit to find, and counts as a crash. */
const maxFiles = 2;

/** The files of one app that are left out until the app's code changes. */
export class Quarantine {
  /** Reasons by file and text. */
  readonly #reasons = new Map<string, string>();
  #hasLoaded = false;

  /** Lets every file load again. */
  clear(): void {
    this.#reasons.clear();
  }

  /**
   * Loads the files but for those that are left out; undefined when none is left. Throws what `load` throws when that names
   * no file, or too many. One with another version to go on with is left out when it fails for the first time.
   */
  async open(
    files: readonly SourceFile[],
    load: (files: readonly SourceFile[]) => Promise<Generation>,
    hasOlder: (file: SourceFile) => boolean = () => false,
  ): Promise<Generation | undefined> {
    const failed = new Set<string>();
    let found = 0;
    for (;;) {
      const chosen = files.filter((file) => !this.#reasons.has(keyOf(file)));
      if (chosen.length === 0) return undefined;
      try {
        const generation = await load(chosen);
        this.#hasLoaded = true;
        return generation;
      } catch (error) {
        if (!(error instanceof LoadFailed && error.isOfCode)) throw error;
        const culprit = findCulprit(error, chosen);
        const key = culprit === undefined ? '' : keyOf(culprit);
        // After a start, the machine may be busy: that must not cost an app its vetoes.
        const isSecondTime = this.#hasLoaded || failed.has(key) || culprit !== undefined && hasOlder(culprit);
        failed.add(key);
        if (!isSecondTime) continue;
        if (culprit === undefined || ++found > maxFiles) throw error;
        this.#reasons.set(key, error.message);
      }
    }
  }

  /** Faults of the files that are left out. */
  faults(files: readonly SourceFile[]): FileFault[] {
    return files.flatMap((source) => {
      const reason = this.#reasons.get(keyOf(source));
      const message = `its top-level code ended or held up the whole process: ${reason ?? ''}`;
      return reason === undefined ? [] : [{ file: source.file, message, line: null, column: null }];
    });
  }
}

/** The file that a load failed in; undefined where several were under way, or none. */
function findCulprit({ files: [first, ...more] }: LoadFailed, loaded: readonly SourceFile[]) {
  if (loaded.length === 1) return loaded[0];
  return more.length > 0 ? undefined : loaded.find(({ file }) => file === first);
}

function keyOf({ file, source }: SourceFile): string {
  return `${file} ${createHash('sha256').update(source).digest('hex')}`;
}
