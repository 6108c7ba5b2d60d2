// What is on its way to a runner: how many frames leave together, and when it is too much.
import { once } from 'node:events';
import { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { FrameReader } from '../../../../api/hooks/rpc/frames.ts';
import { FrameWriter } from '../../../../api/hooks/rpc/frame-writer.ts';
import { PausedTime } from '../../../../api/hooks/rpc/paused-time.ts';

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
  const onStall = () => expect.unreachable('it reads all there is');
  return { socket, out: new FrameWriter(socket, { onStall, onDrain: () => {}, paused: new PausedTime() }) };
}

/** A runner that reads only what is read from `reader.other`. */
function slowReader() {
  const [end, other] = duplexPair();
  let [stalls, drained] = [0, 0];
  // Of a socket, a writer knows no more than what all streams have.
  const out = new FrameWriter(end as Socket, {
    onStall: () => void stalls++,
    onDrain: () => void drained++,
    paused: new PausedTime(),
  });
  return { reader: Object.assign(end, { other }), out, stalls: () => stalls, drained: () => drained };
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

  it('hands over 4 MiB at once, and the rest as they are read', async () => {
    const { reader, out, drained } = slowReader();
    for (let id = 0; id < 30; id++) out.send({ id, text: 'x'.repeat(1_000_000) });
    expect(out.isFull).toBe(true);
    expect(reader.writableLength).toBeLessThan(6_000_000);
    const ids: unknown[] = [];
    const frames = new FrameReader(16_777_216, ({ id }) => void ids.push(id));
    for (const other = reader.other; ids.length < 30;) {
      const chunk: Buffer | null = other.read();
      if (chunk === null) await nextTurn();
      else frames.push(chunk);
      expect(reader.writableLength).toBeLessThan(6_000_000);
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, id) => id));
    await expect.poll(drained).toBeGreaterThan(3);
    expect(out.isFull).toBe(false);
  });

  it('says after 5 s that nothing is read, and not while something is', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { reader, out, stalls } = slowReader();
      out.send({ text: 'x'.repeat(1_000_000) });
      vi.advanceTimersByTime(4_900);
      const drain = once(reader, 'drain');
      while (reader.other.read() !== null) await nextTurn();
      await drain;
      out.send({ text: 'x'.repeat(1_000_000) });
      vi.advanceTimersByTime(4_999);
      expect(stalls()).toBe(0);
      vi.advanceTimersByTime(1);
      expect(stalls()).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not call it a stall when a busy runner takes one write after the other, slowly', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { reader, out, stalls } = slowReader();
      for (let id = 0; id < 3; id++) out.send({ id, text: 'x'.repeat(1_000_000) });
      for (let taken = 0; taken < 2; taken++) {
        vi.advanceTimersByTime(4_900);
        const waiting = reader.writableLength;
        reader.other.read();
        while (reader.writableLength === waiting) await nextTurn();
      }
      vi.advanceTimersByTime(4_999);
      expect(stalls()).toBe(0);
      expect(reader.writableLength).toBeGreaterThan(1_000_000);
      vi.advanceTimersByTime(1);
      expect(stalls()).toBe(1);
    } finally {
      vi.useRealTimers();
    }
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
