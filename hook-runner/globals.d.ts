// The globals of hook files that neither `hooks.d.ts` nor the checked libraries declare, for the type check of an upload.
// Editors have libraries of their own for them.

declare const console: Console;

declare const performance: {
  readonly timeOrigin: number;
  now(): number;
  toJSON(): unknown;
};

declare function queueMicrotask(callback: () => void): void;
/** The returned number is an argument for `clearTimeout`. */
declare function setTimeout<Args extends readonly unknown[]>(
  callback: (...args: Args) => unknown,
  delay?: number,
  ...args: Args
): number;
declare function setInterval<Args extends readonly unknown[]>(
  callback: (...args: Args) => unknown,
  delay?: number,
  ...args: Args
): number;
declare function clearTimeout(timer?: number): void;
declare function clearInterval(timer?: number): void;

interface CustomEvent<Detail = unknown> extends Event {
  readonly detail: Detail;
}
declare const CustomEvent: {
  readonly prototype: CustomEvent;
  new <Detail>(type: string, init?: EventInit & { detail?: Detail }): CustomEvent<Detail>;
};

interface ErrorConstructor {
  captureStackTrace(error: object, above?: (...args: never[]) => unknown): void;
  stackTraceLimit: number;
}

// Features of the engine that TypeScript's libraries do not declare yet.
interface Math {
  sumPrecise(numbers: Iterable<number>): number;
}
interface IteratorConstructor {
  concat<Item>(...parts: readonly Iterable<Item>[]): IteratorObject<Item, undefined, unknown>;
}

interface ImportMeta {
  readonly url: string;
  readonly filename: string;
  readonly dirname: string;
  readonly main: boolean;
  resolve(specifier: string): string;
}
