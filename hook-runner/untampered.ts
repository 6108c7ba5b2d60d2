// Built-ins as they were before the first hook file ran, so that one that replaces them breaks itself and not the
// runner. This is robustness; the walls around the process are what protects others.

/** `JSON.parse`. */
export const parseJson: (text: string) => unknown = JSON.parse;

/** `JSON.stringify`; undefined for what JSON cannot say at all. */
export const stringifyJson: (
  value: unknown,
  replace?: (name: string, member: unknown) => unknown,
) => string | undefined = JSON.stringify;

/** `Promise`. */
export const OriginalPromise = Promise;

/**
 * A class of `globalThis` as it was at the start, made when it is first asked for: Deno keeps the larger ones behind
 * getters, and loading what is behind those of `fetch` takes 4 ms and 1 MiB that most apps need not spend.
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

/** A map whose methods are its own. */
export function safeMap<Key, Value>(): Map<Key, Value> {
  const map = new Map<Key, Value>();
  setPrototypeOf(map, mapPrototype);
  return map;
}

/** The same object (or array) without a prototype, so that `JSON.stringify` finds no `toJSON` and `await` no `then`. */
export function withoutPrototype<const Value extends object>(value: Value): Value {
  setPrototypeOf(value, null);
  return value;
}

/** UTF-8 of a text. */
export const encodeUtf8: (text: string) => Uint8Array<ArrayBuffer> = encoder.encode.bind(encoder);

/** Writes the UTF-8 of a text into bytes that are long enough for it. */
export const encodeUtf8Into: (text: string, bytes: Uint8Array) => { written: number } = encoder.encodeInto
  .bind(
    encoder,
  );

/** A text from its UTF-8. */
export const decodeUtf8: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);

/** Where V8 was told to put its collector (`--expose-gc-as`), in the seat of what hook files find by that name later. */
const collectorName = 'cronAdd';

/** Frees all the memory it can, which takes some 10 ms. Does nothing where V8 offers no collector. */
export const collectGarbage: () => void = collector(Reflect.get(globalThis, collectorName));

function collector(collect: unknown): () => void {
  if (typeof collect !== 'function') return () => undefined;
  const options = withoutPrototype({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return () => collect(options);
}
