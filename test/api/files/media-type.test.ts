// Which types an upload may have.
import { expect, it } from 'vitest';
import { mediaTypeOf } from '../../../api/files/media-type.ts';

const longest = `text/${'x'.repeat(250)}`;

it.each([
  [undefined, 'application/octet-stream'],
  ['', 'application/octet-stream'],
  [longest, longest],
  ['text/plain; charset="utf-8"', 'text/plain; charset="utf-8"'],
  ['multipart/form-database', 'multipart/form-database'],
])('%s is kept as %s', (sent, kept) => {
  expect(mediaTypeOf(sent)).toBe(kept);
});

it.each([
  `${longest}x`,
  'text',
  'text/',
  'text/plain, text/html',
  'text/plain\r\nX: y',
  'text/plain; ü',
  'Multipart/Form-Data',
  'multipart/form-data;boundary=x',
])('%j is refused', (sent) => {
  expect(() => mediaTypeOf(sent)).toThrow('Content-Type: ');
});
