// What every error must look like, whoever gives it.
import { expect } from 'vitest';
import { errorCodes } from '../../api/errors.ts';

/** The headers that every response has, as the interface lists them; the last two leave their values to us. */
const securityHeaders: readonly (readonly [string, RegExp])[] = [
  ['Strict-Transport-Security', /^max-age=63072000; includeSubDomains$/],
  ['X-Content-Type-Options', /^nosniff$/],
  ['Referrer-Policy', /^strict-origin-when-cross-origin$/],
  ['X-Frame-Options', /^DENY$/],
  ['Content-Security-Policy', /default-src 'none'/],
  ['Permissions-Policy', /camera=\(\)/],
];

const aboutMember = { path: expect.any(String), code: expect.any(String), message: expect.any(String) };

const requestId = /^[A-Za-z0-9._-]{1,128}$/;

/** Every response: the security headers and a request id. */
export function expectStandingHeaders(headers: Headers): void {
  for (const [name, value] of securityHeaders) expect(headers.get(name), name).toMatch(value);
  expect(headers.get('X-Request-Id'), 'X-Request-Id').toMatch(requestId);
}

/** An error: exactly `{ code, message }`, and `errors` if it is about members, with a code of the table, in JSON, giving nothing away. */
export function expectError(
  response: { status: number; headers: Headers; text: string },
  status: number,
  code: string,
): void {
  expect({ status: response.status, text: response.text }).toMatchObject({ status });
  expectStandingHeaders(response.headers);
  expect(response.headers.get('Content-Type')).toMatch(/^application\/json/);
  const { errors = [aboutMember], ...body }: { errors?: unknown[] } = JSON.parse(response.text);
  expect(body).toEqual({ code, message: expect.any(String) });
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toEqual(aboutMember);
  expect(Object.keys(errorCodes)).toContain(code);
  expect(response.text).not.toMatch(
    /\bat .+:\d+:\d+|node_modules|\.ts\b|select |insert into|postgres|StorageError/i,
  );
}
