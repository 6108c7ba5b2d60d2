// The types of what hook files register, and of their faults. Types only.
import type { EventNameOf } from './events.ts';

/** An error in an author's code. Lines and columns count from 1, in the file as it was written. */
export interface Fault {
  /** `TypeError: x is not a function`, cut to 2,000 characters. */
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** The stack frames in the author's files, one a line, cut to 4,000 characters; null when there are none. */
  readonly stack: string | null;
}

/** The field that an author's `FieldError` refuses, and its code. */
export interface RefusedField {
  readonly path: string;
  readonly code: string;
}

/** The registration of a handler of an event. */
export type HookRegistration =
  | { readonly event: EventNameOf<'record'>; readonly collection: string }
  | { readonly event: EventNameOf<'user'>; readonly collection: null };

/** One segment of a route's path, parsed by the runner. `rest` matches all remaining segments, and none. */
export type RouteSegment =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'rest' };

/** A custom route. `method` (in capitals) and `path` (as written) together are unique in the app. */
export interface RouteRegistration {
  readonly method: string;
  readonly path: string;
  readonly segments: readonly RouteSegment[];
}

/** A scheduled job. `name` is unique in the app; the expression is valid. */
export interface JobRegistration {
  readonly name: string;
  readonly expression: string;
}

/** The registrations of one file, in order. A file that failed to load has none. */
export interface FileRegistrations {
  readonly file: string;
  readonly hooks: readonly HookRegistration[];
  readonly routes: readonly RouteRegistration[];
  readonly jobs: readonly JobRegistration[];
}
