// Media types of files: what is kept of a `Content-Type`, and which types a browser would run.
import { isCoded } from '../http/content-coding.ts';
import { failValidation } from '../errors.ts';

const maxTypeLength = 255;
/** type "/" subtype, perhaps with parameters (RFC 9110 section 8.3.1). */
const mediaType = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(?:;[\x20-\x7e]*)?$/;

/** The type of an upload; `application/octet-stream` without one. Throws `400 validation` for what is no type, and for a form. */
export function parseMediaType(header: string | undefined): string {
  if (header === undefined || header === '') return 'application/octet-stream';
  if (header.length > maxTypeLength || !mediaType.test(header)) {
    failValidation([{ field: 'Content-Type', reason: 'must be a media type of at most 255 characters' }]);
  }
  if (/^multipart\/form-data\b/i.test(header)) {
    failValidation([{
      field: 'Content-Type',
      reason: 'send the bytes of the file as the body, not a form; X-Filename has its name',
    }]);
  }
  return header;
}

/** Throws `400 validation` for an upload that says it is encoded: who fetches the file would not be told. */
export function requireUncoded(coding: string | undefined): void {
  if (!isCoded(coding)) return;
  failValidation([{ field: 'Content-Encoding', reason: 'send the bytes of the file as they are' }]);
}

/**
 * What a browser, or what it hands files on to, would run, or read as markup that can run something: by exact type, besides
 * those that `isActive` knows by suffix (RFC 6839) or pattern. PDF has scripts of its own.
 */
const running = new Set([
  'text/html',
  // No types of the registry, but what some programs say of such files.
  'application/xhtml',
  'image/svg',
  'text/xml',
  'application/xml',
  'application/xml-dtd',
  'text/xml-external-parsed-entity',
  'application/xml-external-parsed-entity',
  'text/xsl',
  'text/jscript',
  'text/livescript',
  'text/vbscript',
  'text/x-component',
  'application/hta',
  'application/java-archive',
  'application/x-java-applet',
  'application/x-shockwave-flash',
  'application/pdf',
  'application/x-pdf',
  'text/pdf',
  'multipart/related',
  'multipart/x-mixed-replace',
  'message/rfc822',
  'application/x-mimearchive',
  'text/cache-manifest',
]);

/** Whether a browser could run the type: such a file is only ever offered for saving. */
export function isActive(type: string): boolean {
  const essence = type.split(';')[0]?.trim().toLowerCase() ?? '';
  return running.has(essence) || essence.endsWith('+xml') ||
    /^(?:text|application)\/(?:x-)?(?:java|ecma)script[0-9.]*$/.test(essence);
}
