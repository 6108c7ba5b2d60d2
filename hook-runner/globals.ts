// The globals of hook files: those of the language, the web's standard objects, and the app's own.

/** The globals that stay. All others of Deno and Node are deleted, including any that a later Deno adds. */
const keptNames: ReadonlySet<string> = new Set([
  // the language
  ...['Object', 'Function', 'Array', 'Number', 'parseFloat', 'parseInt', 'Infinity', 'NaN', 'undefined'],
  ...['Boolean', 'String', 'Symbol', 'Date', 'Promise', 'RegExp', 'Error', 'AggregateError', 'EvalError'],
  ...[
    'RangeError',
    'ReferenceError',
    'SyntaxError',
    'TypeError',
    'URIError',
    'SuppressedError',
    'globalThis',
  ],
  ...['JSON', 'Math', 'Intl', 'Reflect', 'Proxy', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef'],
  ...['FinalizationRegistry', 'Iterator', 'BigInt', 'DisposableStack', 'AsyncDisposableStack', 'Temporal'],
  ...['ArrayBuffer', 'SharedArrayBuffer', 'Atomics', 'DataView', 'Uint8Array', 'Int8Array', 'Uint16Array'],
  ...['Int16Array', 'Uint32Array', 'Int32Array', 'BigUint64Array', 'BigInt64Array', 'Uint8ClampedArray'],
  ...['Float16Array', 'Float32Array', 'Float64Array', 'decodeURI', 'decodeURIComponent', 'encodeURI'],
  ...['encodeURIComponent', 'escape', 'unescape', 'eval', 'isFinite', 'isNaN'],
  // the web
  ...['AbortController', 'AbortSignal', 'Blob', 'File', 'FormData', 'Headers', 'Request', 'Response', 'URL'],
  ...[
    'URLPattern',
    'URLSearchParams',
    'TextDecoder',
    'TextEncoder',
    'TextDecoderStream',
    'TextEncoderStream',
  ],
  ...['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController'],
  ...['ReadableByteStreamController', 'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest'],
  ...['WritableStream', 'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream'],
  ...['TransformStreamDefaultController', 'ByteLengthQueuingStrategy', 'CountQueuingStrategy'],
  ...[
    'CompressionStream',
    'DecompressionStream',
    'DOMException',
    'QuotaExceededError',
    'Event',
    'EventTarget',
  ],
  ...['CustomEvent', 'atob', 'btoa', 'crypto', 'Crypto', 'CryptoKey', 'SubtleCrypto', 'performance'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'queueMicrotask', 'structuredClone'],
]);

/** Deletes the globals that hook files must not have, then adds `own`. To be called before the first file is loaded. */
export function replaceGlobals(own: Readonly<Record<string, unknown>>): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!keptNames.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  for (const [name, value] of Object.entries(own)) {
    const plain = { value, writable: true, configurable: true, enumerable: false };
    // V8 does not allow a global of its own to be redefined, only to be assigned.
    if (!Reflect.defineProperty(globalThis, name, plain)) Reflect.set(globalThis, name, value);
  }
}
