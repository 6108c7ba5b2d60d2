// What is on its way to a runner: how many frames leave together, and when it is too much.
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FrameReader } from '../../../api/hooks/frames.ts';
import { FrameWriter } from '../../../api/hooks/frame-writer.ts';

/** Keeps what is written to it, one entry a write. */
class WrittenTo extends Socket {
  readonly writes: Record<string, unknown>[][] = [];

  override write(chunk: Uint8Array | string): boolean {
    const messages: Record<string, unknown>[] = [];
    new FrameReader(16_777_216, (message) => void messages.push(message)).push(Buffer.from(chunk));
    this.writes.push(messages);
    return true;
  }
}

function writer() {
  const socket = new WrittenTo();
  return { socket, out: new FrameWriter(socket, () => expect.unreachable('it reads all there is')) };
}

const frames = (count: number) => Array.from({ length: count }, (_, index) => ({ type: 'ping', id: index }));

describe('a writer of frames', () => {
  it('sends the frames of one turn in one write, once the turn is over', async () => {
    const { socket, out } = writer();
    for (const frame of frames(3)) out.send({ ...frame, text: 'ä\u2028' });
    expect(socket.writes).toEqual([]);
    await nextTurn();
    expect(socket.writes).toEqual([frames(3).map((frame) => ({ ...frame, text: 'ä\u2028' }))]);
    out.send({ type: 'later' });
    await nextTurn();
    expect(socket.writes.at(-1)).toEqual([{ type: 'later' }]);
  });

  it('has no frame wait for more than seven others, nor for long ones, and keeps their order', async () => {
    const { socket, out } = writer();
    for (const frame of frames(20)) out.send(frame);
    expect(socket.writes.map(({ length }) => length)).toEqual([8, 8]);
    await nextTurn();
    expect(socket.writes.flat()).toEqual(frames(20));
    out.send({ text: 'x'.repeat(70_000) });
    expect(socket.writes.at(-1)?.length).toBe(1);
  });

  it('sends at once what is not to wait', async () => {
    const { socket, out } = writer();
    out.flush();
    out.send({ type: 'ping', id: 0 });
    out.flush();
    expect(socket.writes).toEqual([frames(1)]);
    await nextTurn();
    expect(socket.writes.length).toBe(1);
  });

  it('sends nothing once it is closed', async () => {
    const { socket, out } = writer();
    out.send({ type: 'ping', id: 1 });
    out.close();
    out.send({ type: 'ping', id: 2 });
    await nextTurn();
    expect(socket.writes).toEqual([]);
  });
});
