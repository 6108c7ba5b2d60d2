// Reading and forging access tokens.
import type { ApiResponse } from './api.ts';

/** The claims that every token has, and some. */
export interface Claims {
  iss: string;
  sub: string;
  role: string;
  jti: string;
  iat: number;
  exp: number;
  workspace?: string;
  app?: string | string[];
}

/** The claims of a token, unchecked. */
export function claimsOf(token: string | undefined): Claims {
  return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString());
}

/** The header of a token. */
export function headerOf(token: string | undefined): { alg: string; typ: string; kid: string } {
  return JSON.parse(Buffer.from(token?.split('.')[0] ?? '', 'base64url').toString());
}

/** The session cookies that a response sets, as they are written; not the one of a known client, which outlives sessions. */
export function cookiesOf({ headers }: ApiResponse): string[] {
  return headers.getSetCookie().filter((cookie) => !/^\w+_kc=/.test(cookie));
}

/** One part of a token, encoded. */
export function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
