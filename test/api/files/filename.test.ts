// Names of files as headers bring and take them.
import { describe, expect, it } from 'vitest';
import { disposition, filenameHeader, parseFilename } from '../../../api/files/filename.ts';

const faces = (count: number) => encodeURIComponent('😀'.repeat(count));
/** As Node hands a header on that was sent in these bytes. */
const asSent = (name: string, encoding: BufferEncoding) => Buffer.from(name, encoding).toString('latin1');

describe('a name that is sent', () => {
  it.each([
    [undefined, 'file'],
    ['', 'file'],
    ['.', 'file'],
    ['a/.', 'file'],
    ['a/%2E%2E', 'file'],
    ['%20', 'file'],
    ['%20a%20b.txt%20', 'a b.txt'],
    // One surrogate of a pair is no UTF-8: the name is then as it was written.
    ['%ED%A0%80.txt', '%ED%A0%80.txt'],
    [`${'x'.repeat(300)}.${'e'.repeat(16)}`, `${'x'.repeat(238)}.${'e'.repeat(16)}`],
    [`${'x'.repeat(300)}.${'e'.repeat(17)}`, 'x'.repeat(255)],
    // No character is kept in part.
    [`${faces(100)}.png`, `${'😀'.repeat(62)}.png`],
    [faces(64), '😀'.repeat(63)],
  ])('%s is kept as %s', (sent, kept) => {
    expect(parseFilename(sent)).toBe(kept);
  });

  it('may be in UTF-8 or in Latin-1, without any escape', () => {
    expect(parseFilename(asSent('über.txt', 'utf8'))).toBe('über.txt');
    expect(parseFilename(asSent('über.txt', 'latin1'))).toBe('über.txt');
  });
});

describe('a name that is answered', () => {
  it.each([
    ['a b.txt', 'a b.txt'],
    ['100%.txt', '100%25.txt'],
    ['50% off.txt', '50%25%20off.txt'],
    ['%41.txt', '%2541.txt'],
    ['über.txt', '%C3%BCber.txt'],
    ['a/b', 'a%2Fb'],
    [' a', '%20a'],
  ])('%s is written as %s, and is the same when it is sent again', (name, written) => {
    expect(filenameHeader(name)).toBe(written);
    expect(decodeURIComponent(written)).toBe(name);
    if (!name.includes('/') && name === name.trim()) expect(parseFilename(written)).toBe(name);
  });

  it('stands in a disposition with nothing that ends its value (RFC 8187 section 3.2.1)', () => {
    expect(disposition('inline', `a'b(c)*d;e"f.txt`)).toBe(
      `inline; filename="a_b(c)_d_e_f.txt"; filename*=UTF-8''a%27b%28c%29%2Ad%3Be%22f.txt`,
    );
  });

  it('stands in a disposition in ASCII, too, for clients that know no other form', () => {
    expect(disposition('attachment', 'Übergröße 100%.pdf')).toBe(
      `attachment; filename="_bergr__e 100_.pdf"; filename*=UTF-8''%C3%9Cbergr%C3%B6%C3%9Fe%20100%25.pdf`,
    );
  });
});
