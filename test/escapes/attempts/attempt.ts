// What one attempt to break out of a hook runner is.

/** One attempt. `code` is an expression, awaited; what it may name besides globals is in `Bait`. */
export interface Attempt {
  readonly id: number;
  readonly title: string;
  readonly code: string;
}

/** What lies around for attempts to reach, by the names that their code has for it. */
export interface Bait {
  /** A folder that everybody can read: secrets, modules, links and a socket. */
  readonly DIR: string;
  /** A folder that everybody can write to. */
  readonly SINK: string;
  /** A hook file of another app. */
  readonly OTHER: string;
  /** Where a server listens that nobody must reach; so one does at `DIR/sock`. */
  readonly PORT: number;
  /** A process that nobody must signal. */
  readonly VICTIM: number;
  /** A record, a file and the id of another app, which has a collection `secrets`. */
  readonly RECORD: string;
  readonly FILE: string;
  readonly APP: string;
}

/** Numbers attempts, given as title and code, from `first` on. */
export function numbered(first: number, attempts: readonly (readonly [string, string])[]): Attempt[] {
  return attempts.map(([title, code], index) => ({ id: first + index, title, code }));
}
