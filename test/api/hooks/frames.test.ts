// Frames as they are read off a runner's channel.
import { describe, expect, it } from 'vitest';
import { encodeFrame, encodeFrames, FrameReader, ProtocolError } from '../../../api/hooks/frames.ts';

function read(chunks: readonly Buffer[]): { message: Record<string, unknown>; bytes: number }[] {
  const taken: { message: Record<string, unknown>; bytes: number }[] = [];
  const reader = new FrameReader(1_000, (message, bytes) => void taken.push({ message, bytes }));
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

  it.each([[0xff], [0xc3], [0xed, 0xa0, 0x80]])('refuses bytes that are no UTF-8: %o', (...bytes) => {
    const text = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(text.length);
    // Behind another frame, which is as it must be.
    expect(() => read([Buffer.concat([encodeFrame({ a: 1 }), head, text])])).toThrow('not UTF-8');
  });

  it.each([42, 43, 44, 45])(
    'rpc.fuzz: 250,000 mutated frames (seed %i of four) are taken or refused, and nothing else is ever thrown',
    (seed) => {
      const seeds = [
        { type: 'result', id: 1, outcome: 'done', changes: {} },
        {
          type: 'call',
          id: 1,
          parent: 1,
          method: 'records.create',
          args: ['posts', { title: 'x', n: [1, 2.5, null] }],
        },
        {
          type: 'log',
          parent: 0,
          level: 'info',
          message: 'hello \\u00e9',
          file: null,
          fields: { a: { b: [true] } },
        },
      ].map(encodeFrame);
      let state = seed;
      const random = (below: number) => {
        state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff;
        return state % below;
      };
      let [taken, refused] = [0, 0];
      for (let round = 0; round < 250_000; round++) {
        const frame = Buffer.from(seeds[round % seeds.length] ?? Buffer.alloc(0));
        for (let change = random(4); change >= 0; change--) frame[random(frame.length)] = random(256);
        const reader = new FrameReader(1_048_576, () => taken++);
        try {
          const cut = random(frame.length);
          reader.push(frame.subarray(0, cut));
          reader.push(frame.subarray(cut));
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          refused++;
        }
      }
      expect(taken).toBeGreaterThan(1_000);
      expect(refused).toBeGreaterThan(1_000);
    },
  );
});
