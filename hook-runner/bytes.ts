// Bytes on their way through JSON.
import type { Bytes } from './calls.ts';
import { utf8 } from './untampered.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const decode = strict.decode.bind(strict);

/** Bytes as the protocol carries them. */
export function carried(bytes: Uint8Array): Bytes {
  try {
    return { text: decode(bytes) };
  } catch {
    return { base64: bytes.toBase64() }; // not UTF-8
  }
}

/** The bytes themselves. */
export function bytesOf(body: Bytes): Uint8Array<ArrayBuffer> {
  return 'text' in body ? utf8(body.text) : Uint8Array.fromBase64(body.base64);
}

/** What a `Request` or `Response` is made from: a text as it is, else bytes. */
export function bodyOf(body: Bytes | null): string | Uint8Array<ArrayBuffer> | null {
  if (body === null) return null;
  return 'text' in body ? body.text : bytesOf(body);
}
