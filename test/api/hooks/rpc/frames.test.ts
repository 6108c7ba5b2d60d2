// Frames as they are read off a runner's channel; fuzz.test.ts has those that were changed at random.
import { describe, expect, it } from 'vitest';
import { encodeFrames, FrameReader, toFrameText } from '../../../../api/hooks/rpc/frames.ts';
import { encodeFrame } from '../../../harness/frame.ts';

const nested = (levels: number) => `${'['.repeat(levels)}0${']'.repeat(levels)}`;

function framesOf(text: string): Buffer[] {
  return [encodeFrames([text])];
}

function read(
  chunks: readonly Buffer[],
  largest = 1_000,
): { message: Record<string, unknown>; bytes: number }[] {
  const taken: { message: Record<string, unknown>; bytes: number }[] = [];
  const reader = new FrameReader(largest, (message, bytes) => void taken.push({ message, bytes }));
  for (const chunk of chunks) reader.push(chunk);
  return taken;
}

describe('a reader of frames', () => {
  it('hands on each message with its bytes, wherever the chunks were cut', () => {
    const texts = ['{"a":1}', '{"b":"grüße"}', '{"c":[]}'];
    const expected = texts.map((text) => ({ message: JSON.parse(text), bytes: Buffer.byteLength(text) }));
    const all = encodeFrames(texts);
    for (let first = 0; first <= all.length; first++) {
      for (let second = first; second <= all.length; second += 5) {
        const chunks = [all.subarray(0, first), all.subarray(first, second), all.subarray(second)];
        expect(read(chunks)).toEqual(expected);
      }
    }
  });

  it('takes the character that stands for bytes which are no UTF-8, where it was sent itself', () => {
    const message = { title: 'a \ufffd' };
    expect(read([encodeFrame(message)])).toEqual([{ message, bytes: 17 }]);
  });

  it('takes 64 levels and no more, whatever the message is', () => {
    expect(read(framesOf(`{"a":${nested(63)}}`))).toHaveLength(1);
    expect(() => read(framesOf(`{"a":${nested(64)}}`))).toThrow('nested deeper than 64');
    // Brackets of a text are none.
    expect(read(framesOf(`{"a":"\\"${'['.repeat(100)}"}`))).toHaveLength(1);
  });

  it('takes what 200,000 brackets, texts, commas and colons make, and no more', () => {
    const list = (numbers: number) => `{"a":[${Array(numbers).fill(0).join()}]}`;
    // Two brackets, a text and a colon, and a comma less than there are numbers.
    expect(read(framesOf(list(199_997)), 1_048_576)).toHaveLength(1);
    expect(() => read(framesOf(list(199_998)), 1_048_576)).toThrow('more than 100000 values');
  });

  it.each([[0xff], [0xc3], [0xed, 0xa0, 0x80]])('refuses bytes that are no UTF-8: %o', (...bytes) => {
    const text = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(text.length);
    // Behind another frame, which is as it must be.
    expect(() => read([Buffer.concat([encodeFrame({ a: 1 }), head, text])])).toThrow('not UTF-8');
  });
});

describe('a message for a runner', () => {
  it('has at most 16 MiB, counted as the bytes that they are', () => {
    const around = Buffer.byteLength(JSON.stringify({ a: '' }));
    const most = (16_777_216 - around) / 3;
    expect(toFrameText({ a: 'ह'.repeat(Math.floor(most)) })).toContain('ह');
    expect(() => toFrameText({ a: 'ह'.repeat(Math.ceil(most) + 1) })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
  });
});
