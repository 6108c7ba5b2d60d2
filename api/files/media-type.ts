// Media types of files, parsed from `Content-Type`.
import { isCoded } from '../http/content-coding.ts';
import { failValidation } from '../errors.ts';

const maxTypeLength = 255;
/** type "/" subtype, perhaps with parameters (RFC 9110 section 8.3.1). */
const mediaType = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(?:;[\x20-\x7e]*)?$/;

/** The type of an upload; the default is `application/octet-stream`. Throws `400 validation` for an invalid type and for forms. */
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

/** Throws `400 validation` for an upload with a content coding, because a download would not have the header. */
export function requireUncoded(coding: string | undefined): void {
  if (!isCoded(coding)) return;
  failValidation([{ field: 'Content-Encoding', reason: 'send the bytes of the file as they are' }]);
}
