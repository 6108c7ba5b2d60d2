// Primordials: built-ins as they were before the first hook file ran, so that a file that replaces them does not break the
// runner. This is for robustness. The sandbox around the process is what protects others.

/** Replaces a value while it is parsed. `source` is the text of a number, a string or a literal. */
type Revive = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

declare global {
  // Features of the engine that TypeScript's libraries do not declare yet.
  interface JSON {
    parse(text: string, revive: Revive): unknown;
    rawJSON(text: string): { readonly rawJSON: string };
  }
}

/** `JSON.parse`. */
export const parseJson: (text: string) => unknown = JSON.parse;

/** `JSON.parse` with a function that replaces values. */
export const reviveJson: (text: string, revive: Revive) => unknown = JSON.parse;

/** `JSON.rawJSON`. */
export const rawJson: (text: string) => object = JSON.rawJSON;

/** `JSON.stringify`. Returns undefined for a value that JSON cannot represent. */
export const stringifyJson: (
  value: unknown,
  replace?: (name: string, member: unknown) => unknown,
) => string | undefined = JSON.stringify;

/** `Promise`. */
export const OriginalPromise = Promise;

/**
 * Captures a class of `globalThis` without loading it. Deno keeps larger classes behind getters, and loading those of
 * `fetch` takes 4 ms and 1 MiB, which most apps do not need.
 */
function captureGlobal<Class>(name: string, make: () => Class): () => Class {
  const read = Object.getOwnPropertyDescriptor(globalThis, name)?.get;
  if (read === undefined) {
    const value = make();
    return () => value;
  }
  return () => Reflect.apply(read, globalThis, []);
}

/** `Request`. */
export const originalRequest: () => typeof Request = captureGlobal('Request', () => Request);

/** `Response`. */
export const originalResponse: () => typeof Response = captureGlobal('Response', () => Response);

/** `queueMicrotask`. */
export const enqueueMicrotask = queueMicrotask;

/** `setTimeout`. */
export const startTimer = setTimeout;

/** `clearTimeout`. */
export const stopTimer = clearTimeout;

/** `String`. */
export const toText = String;

const { setPrototypeOf, create, getOwnPropertyDescriptors, keys, freeze, hasOwn } = Object;
const mapPrototype: object = create(null, getOwnPropertyDescriptors(Map.prototype));
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** `Object.keys`. */
export const objectKeys: (value: object) => string[] = keys;

/** `Object.freeze`. */
export const freezeObject: <Value extends object>(value: Value) => Readonly<Value> = freeze;

/** `Object.hasOwn`. */
export const hasOwnMember: (value: object, name: PropertyKey) => boolean = hasOwn;

/** Creates a map whose methods hook code cannot replace. */
export function safeMap<Key, Value>(): Map<Key, Value> {
  const map = new Map<Key, Value>();
  setPrototypeOf(map, mapPrototype);
  return map;
}

/** Removes the prototype of an object or array, so that `JSON.stringify` finds no `toJSON` and `await` no `then`. */
export function withoutPrototype<const Value extends object>(value: Value): Value {
  setPrototypeOf(value, null);
  return value;
}

/** Encodes a text as UTF-8. */
export const encodeUtf8: (text: string) => Uint8Array<ArrayBuffer> = encoder.encode.bind(encoder);

/** Writes a text as UTF-8 into bytes, which must be long enough. */
export const encodeUtf8Into: (text: string, bytes: Uint8Array) => { written: number } = encoder.encodeInto
  .bind(
    encoder,
  );

/** Decodes UTF-8. */
export const decodeUtf8: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);

/** The global of V8's garbage collector (`--expose-gc-as`). Its value is replaced before hook files run: see `replaceGlobals`. */
const collectorName = 'cronAdd';

/** Frees all the memory it can, which takes about 10 ms. Does nothing when V8 exposes no collector. */
export const collectGarbage: () => void = collector(Reflect.get(globalThis, collectorName));

function collector(collect: unknown): () => void {
  if (typeof collect !== 'function') return () => undefined;
  const options = withoutPrototype({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return () => collect(options);
}
