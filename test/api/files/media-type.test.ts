// Which types an upload may have.
import { expect, it } from 'vitest';
import { parseMediaType } from '../../../api/files/media-type.ts';

const longest = `text/${'x'.repeat(250)}`;

it.each([
  [undefined, 'application/octet-stream'],
  ['', 'application/octet-stream'],
  [longest, longest],
  ['text/plain; charset="utf-8"', 'text/plain; charset="utf-8"'],
  ['multipart/form-database', 'multipart/form-database'],
])('%s is kept as %s', (sent, kept) => {
  expect(parseMediaType(sent)).toBe(kept);
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
  expect(() => parseMediaType(sent)).toThrow('Content-Type: ');
});
