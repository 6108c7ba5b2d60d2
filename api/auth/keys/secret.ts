// The secrets of API keys: 256 random bits, so a plain hash is enough to keep of them.
import { createHash, randomBytes } from 'node:crypto';

const shape = /^bhk_[A-Za-z0-9_-]{43}$/;

/** Makes a secret. */
export function makeKeySecret(): string {
  return `bhk_${randomBytes(32).toString('base64url')}`;
}

/** True for a bearer token that is meant to be the secret of a key. */
export function isKeySecret(token: string): boolean {
  return token.startsWith('bhk_');
}

/** The hash by which a key is found; undefined for a text that no key can have. */
export function hashKeySecret(secret: string): Buffer | undefined {
  return shape.test(secret) ? createHash('sha256').update(secret).digest() : undefined;
}
