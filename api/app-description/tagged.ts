// Documents that describe an app, sent with an `ETag`: a client that has the document already gets `304`.
import { createHash } from 'node:crypto';
import { RawResponse } from '../contract/route.ts';
import { matchesTag } from '../files/byte-range.ts';
import type { HeaderList } from '../http/header-list.ts';
import { writeHead } from '../http/response-headers.ts';

/** The response with a document. Its tag follows from its text, so that it is the same in all processes. */
export function taggedResponse(text: string, contentType: string): RawResponse {
  return new RawResponse(({ response, headers }) => {
    const { req } = response;
    const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
    const always: HeaderList = [...headers, ['ETag', tag], ['Cache-Control', 'private, no-cache']];
    if (matchesTag(req.headers['if-none-match'], tag)) {
      writeHead(response, 304, always).end();
      return Promise.resolve();
    }
    writeHead(response, 200, [
      ...always,
      ['Content-Type', contentType],
      ['Content-Length', String(Buffer.byteLength(text))],
    ]).end(req.method === 'HEAD' ? undefined : text);
    return Promise.resolve();
  });
}
