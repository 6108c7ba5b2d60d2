// Bytes on their way through JSON.
import type { Bytes } from './calls.ts';
import { encodeUtf8, stringifyJson } from './untampered.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const decode = strict.decode.bind(strict);

/** Fewer bytes fit into a call also where JSON takes six letters for each, as it does for most control characters. */
const alwaysCheapBytes = 32_768;

/** Bytes as the protocol carries them, in the spelling that costs less. */
export function encodeBytes(bytes: Uint8Array): Bytes {
  const text = decodeStrictly(bytes);
  if (text === undefined) return { base64: bytes.toBase64() };
  const isCheap = bytes.length <= alwaysCheapBytes ||
    encodeUtf8(stringifyJson(text) ?? '').length <= bytes.length * 4 / 3;
  return isCheap ? { text } : { base64: bytes.toBase64() };
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined; // not UTF-8
  }
}

/** The bytes themselves. */
export function decodeBytes(body: Bytes): Uint8Array<ArrayBuffer> {
  return 'text' in body ? encodeUtf8(body.text) : Uint8Array.fromBase64(body.base64);
}

/** What a `Request` or `Response` is made from: a text as it is, else bytes. */
export function bodyInit(body: Bytes | null): string | Uint8Array<ArrayBuffer> | null {
  if (body === null) return null;
  return 'text' in body ? body.text : decodeBytes(body);
}
