// The parts of forms, which come in chunks of any length.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBoundary } from '../../../../api/http/multipart/part-headers.ts';
import { maxParts, readParts } from '../../../../api/http/multipart/parts.ts';

interface Read {
  name: string;
  filename: string | undefined;
  type: string | undefined;
  content: string;
}

async function* chunksOf(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length);
}

async function read(bytes: Buffer, boundary: string, length = 7): Promise<Read[]> {
  const found: Read[] = [];
  for await (const { bytes: content, ...headers } of readParts(chunksOf(bytes, length), boundary)) {
    const chunks = await Array.fromAsync(content);
    found.push({ ...headers, content: Buffer.concat(chunks).toString('latin1') });
  }
  return found;
}

/** A form with boundary `x`, of parts that are written out. */
function form(...parts: string[]): Buffer {
  return Buffer.from([...parts.map((part) => `--x\r\n${part}\r\n`), '--x--\r\n'].join(''));
}

const named = (name: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n`;
const refusal = async (bytes: Buffer) => {
  const { code, message } = await read(bytes, 'x').then(
    () => expect.unreachable(),
    (error: unknown) => error as { code: string; message: string },
  );
  return [code, message];
};

describe('the parts of a form', () => {
  it('are those that a browser has written, in chunks of any length', async () => {
    const content = fc.uint8Array({ maxLength: 200 });
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((name) => name.isWellFormed() && !/[\r\n\0\\%]/.test(name));
    const entry = fc.record({ name, filename: fc.option(name, { nil: undefined }), content });
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        async (entries, length) => {
          const data = new FormData();
          for (const { name, filename, content } of entries) {
            if (filename === undefined) data.append(name, Buffer.from(content).toString('hex'));
            else data.append(name, new Blob([Buffer.from(content)], { type: 'image/png' }), filename);
          }
          const sent = new Response(data);
          const boundary = readBoundary(sent.headers.get('content-type') ?? '');
          const found = await read(Buffer.from(await sent.arrayBuffer()), boundary, length);
          expect(found).toEqual(entries.map(({ name, filename, content }) => {
            const bytes = Buffer.from(content);
            return filename === undefined
              ? { name, filename, type: undefined, content: bytes.toString('hex') }
              : { name, filename, type: 'image/png', content: bytes.toString('latin1') };
          }));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('may have a name with a separator of lines or paragraphs, which ends no header', async () => {
    const [part] = await read(form(`${named('a\u2028b\u2029c')}x`), 'x');
    expect(part?.name).toBe('a\u2028b\u2029c');
  });

  it('may have what looks like a boundary in them', async () => {
    const content = '\r\n--y\r\n--\r\r\n-x--x';
    expect(await read(form(`${named('a')}${content}`), 'x', 1)).toEqual([
      { name: 'a', filename: undefined, type: undefined, content },
    ]);
  });

  it('have names with quotes, as curl and browsers escape them', async () => {
    const quoted = [String.raw`a\"b`, 'a%22b', String.raw`C:\x\\y`, 'über'];
    const found = await read(form(...quoted.map(named)), 'x');
    expect(found.map(({ name }) => Buffer.from(name).toString())).toEqual([
      'a"b',
      'a"b',
      String.raw`C:\x\y`,
      'über',
    ]);
  });

  it('are skipped when nobody reads them', async () => {
    const names: string[] = [];
    for await (const { name } of readParts(chunksOf(form(`${named('a')}1`, `${named('b')}2`), 5), 'x')) {
      names.push(name);
    }
    expect(names).toEqual(['a', 'b']);
  });

  it('are refused when they are malformed, nested or coded', async () => {
    const bodies: Record<string, Buffer> = {
      'no form': Buffer.from('{}'),
      'nothing': Buffer.alloc(0),
      'text before it': Buffer.from('hello\r\n--x--'),
      'no end': form(`${named('a')}1`).subarray(0, -6),
      'no end of headers': Buffer.from('--x\r\nContent-Disposition: form-data; name="a"\r\n'),
      'another boundary': Buffer.from('--xy\r\n\r\n'),
      'no headers': form('\r\n\r\nx'),
      'no name': form('Content-Disposition: form-data; filename="a"\r\n\r\n1'),
      'no disposition': form('Content-Type: text/plain\r\n\r\n1'),
      'an attachment': form('Content-Disposition: attachment; name="a"\r\n\r\n1'),
      'two names': form('Content-Disposition: form-data; name="a"; name="b"\r\n\r\n1'),
      'two dispositions': form(`Content-Disposition: form-data; name="a"\r\n${named('b')}1`),
      'an open quote': form('Content-Disposition: form-data; name="a\r\n\r\n1'),
      'NUL in a name': form(`${named('a\0b')}1`),
      'a bare line feed': form(`${named('a\nb')}1`),
      'a nested form': form(`Content-Type: multipart/mixed; boundary=y\r\n${named('a')}--y--`),
      'base64': form(`Content-Transfer-Encoding: base64\r\n${named('a')}MQ==`),
      'too many headers': form(`${'A: 1\r\n'.repeat(30)}${named('a')}1`),
      'too long headers': form(`A: ${'1'.repeat(10_000)}\r\n${named('a')}1`),
      'no UTF-8': Buffer.from(form(`${named('\u00ff')}1`).toString(), 'latin1'),
    };
    for (const [what, bytes] of Object.entries(bodies)) {
      expect([what, ...(await refusal(bytes)).slice(0, 1)]).toEqual([what, 'deserialization']);
    }
  });

  it('are at most 1,000', async () => {
    const parts = Array.from({ length: maxParts + 1 }, () => named('a'));
    expect(await read(form(...parts.slice(1)), 'x', 4_096)).toHaveLength(maxParts);
    expect((await refusal(form(...parts)))[0]).toBe('payload_too_large');
  });
});
