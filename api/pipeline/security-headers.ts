// The headers that every response carries, unless `http.security_headers` is false.
import { type AnswerHeaders, constantHeader } from '../http/response-headers.ts';

/** OWASP secure headers; an API answers data only, so nothing may be loaded, framed or asked for by it. */
export const securityHeaders: AnswerHeaders = [
  constantHeader('Strict-Transport-Security', 'max-age=63072000; includeSubDomains'),
  constantHeader('X-Content-Type-Options', 'nosniff'),
  constantHeader('Referrer-Policy', 'strict-origin-when-cross-origin'),
  constantHeader('X-Frame-Options', 'DENY'),
  constantHeader(
    'Content-Security-Policy',
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  ),
  constantHeader(
    'Permissions-Policy',
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), payment=(), usb=()',
  ),
];
