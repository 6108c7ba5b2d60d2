// What hook files register, and what is said when they fail. Types only.
import type { EventNameOf } from './events.ts';

/** Something that went wrong in an author's code. Lines and columns count from 1, in the file as it was written. */
export interface Fault {
  /** `TypeError: x is not a function`, cut to 2,000 characters. */
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** Frames in the author's files only, one a line, at most 4,000 characters; null where there are none. */
  readonly stack: string | null;
}

/** A handler of a record event. */
export interface HookRegistration {
  readonly event: EventNameOf<'record'>;
  readonly collection: string;
}

/** One part of a route's path between two slashes, taken apart by the runner. `rest` matches all that is left, and `''`. */
export type RouteSegment =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'rest' };

/** A custom route. `method` (in capitals) and `path` (as the author wrote it) together are unique in the app. */
export interface RouteRegistration {
  readonly method: string;
  readonly path: string;
  readonly segments: readonly RouteSegment[];
}

/** A scheduled job. `name` is unique in the app; the expression was checked. */
export interface JobRegistration {
  readonly name: string;
  readonly expression: string;
}

/** What one file registered, in order. A file that failed to load has registered nothing. */
export interface FileRegistrations {
  readonly file: string;
  readonly hooks: readonly HookRegistration[];
  readonly routes: readonly RouteRegistration[];
  readonly jobs: readonly JobRegistration[];
}
