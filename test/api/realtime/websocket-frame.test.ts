// The three forms of a frame's length, at their edges (RFC 6455 section 5.2).
import { describe, expect, it } from 'vitest';
import { textFrame } from '../../../api/realtime/websocket/frame.ts';

describe('a text frame', () => {
  it.each([
    [0, '8100'],
    [125, '817d'],
    [126, '817e007e'],
    [65_535, '817effff'],
    [65_536, '817f0000000000010000'],
    [100_000, '817f00000000000186a0'],
  ])('of %i bytes has the header %s', (length, header) => {
    const [half, rest] = [Buffer.alloc(length >> 1, 'a'), Buffer.alloc(length - (length >> 1), 'b')];
    const frame = Buffer.concat(textFrame(half, rest));
    expect(frame.subarray(0, frame.length - length).toString('hex')).toBe(header);
    expect(frame.subarray(frame.length - length)).toEqual(Buffer.concat([half, rest]));
  });
});
