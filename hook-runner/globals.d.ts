// What hook files find besides `hooks.d.ts` and the libraries of `checkedLibraries`, for the type checker of a PUT. Editors
// have libraries of their own for it.

declare const console: Console;

declare const performance: {
  readonly timeOrigin: number;
  now(): number;
  toJSON(): unknown;
};

declare function queueMicrotask(callback: () => void): void;
/** What it returns is for `clearTimeout` alone. */
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

// What the engine has and TypeScript's libraries do not know yet.
interface Math {
  sumPrecise(numbers: Iterable<number>): number;
}
interface IteratorConstructor {
  concat<Item>(...parts: readonly Iterable<Item>[]): IteratorObject<Item, undefined, unknown>;
}
interface JSON {
  rawJSON(text: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): boolean;
}

interface ImportMeta {
  readonly url: string;
  readonly filename: string;
  readonly dirname: string;
  readonly main: boolean;
  resolve(specifier: string): string;
}
