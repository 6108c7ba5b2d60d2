// Bytes in JSON: as text where they are UTF-8, else as base64.
import type { Bytes } from './calls.ts';
import { encodeUtf8, stringifyJson } from './untampered.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const decode = strict.decode.bind(strict);

/** So many bytes fit into a call even if JSON escapes each as six characters, as it does most control characters. */
const alwaysCheapBytes = 32_768;

/** Encodes bytes as the protocol carries them, in the shorter of the two forms. */
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

/** Decodes bytes that the protocol carried. */
export function decodeBytes(body: Bytes): Uint8Array<ArrayBuffer> {
  return 'text' in body ? encodeUtf8(body.text) : Uint8Array.fromBase64(body.base64);
}

/** The body to construct a `Request` or `Response` with. */
export function bodyInit(body: Bytes | null): string | Uint8Array<ArrayBuffer> | null {
  if (body === null) return null;
  return 'text' in body ? body.text : decodeBytes(body);
}
