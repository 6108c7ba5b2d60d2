// The bound on what waits for one socket, on a stream whose writes the test lets through.
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Backlog } from '../../../../api/realtime/delivery/backlog.ts';
import { Sink } from '../../../../api/realtime/delivery/sink.ts';
import { Slow } from '../slow-socket.ts';

const options = {
  workspace: 'acme',
  bounds: { waitingBytes: 1_000, stallMs: 10_000 },
  backlog: new Backlog(Infinity),
};

describe('a sink', () => {
  it('takes a write as long as no more than the bound is waiting', () => {
    const socket = new Slow();
    const sink = new Sink(socket, options);
    expect(sink.write([Buffer.alloc(1_000)])).toBe(true);
    expect(sink.write([Buffer.alloc(500)])).toBe(true);
    expect(sink.write([Buffer.alloc(1)])).toBe(false);
    expect(socket.writableLength).toBe(1_500);
  });

  it('takes one event of any size when nothing is waiting', () => {
    const sink = new Sink(new Slow(), options);
    expect(sink.write([Buffer.alloc(50_000)])).toBe(true);
    expect(sink.write([Buffer.alloc(1)])).toBe(false);
  });

  it('is stalled when nothing has left for the whole time', () => {
    const sink = new Sink(new Slow(), options);
    sink.write([Buffer.alloc(10)]);
    expect(sink.isStalled(0)).toBe(false);
    expect(sink.isStalled(9_999)).toBe(false);
    expect(sink.isStalled(10_000)).toBe(true);
  });

  it('is not stalled while anything leaves, nor while nothing waits', async () => {
    const socket = new Slow();
    const sink = new Sink(socket, options);
    for (let count = 0; count < 4; count++) sink.write([Buffer.alloc(10)]);
    for (let at = 0; at < 4; at++) {
      expect(sink.isStalled(at * 9_000)).toBe(false);
      socket.send();
      await new Promise((resolve) => process.nextTick(resolve));
    }
    expect(sink.isStalled(100_000)).toBe(false);
    sink.write([Buffer.alloc(10)]);
    expect(sink.isStalled(200_000)).toBe(false);
    expect(sink.isStalled(209_999)).toBe(false);
    expect(sink.isStalled(210_000)).toBe(true);
  });

  it('gives a large event more time', () => {
    const sink = new Sink(new Slow(), options);
    sink.write([Buffer.alloc(5_000)]);
    expect(sink.isStalled(0)).toBe(false);
    expect(sink.isStalled(49_999)).toBe(false);
    expect(sink.isStalled(50_000)).toBe(true);
  });

  it('calls back once when all has left, and again who asks again then', async () => {
    const socket = new Slow();
    const sink = new Sink(socket, { ...options, bounds: { ...options.bounds, waitingBytes: 1_000_000 } });
    const heard: string[] = [];
    const again = () => {
      heard.push('again');
      sink.whenDrained(again);
    };
    sink.whenDrained(() => heard.push('once'));
    for (const ask of [again, again]) sink.whenDrained(ask);
    for (let times = 0; times < 2; times++) {
      sink.write([Buffer.alloc(100_000)]);
      expect(sink.isFull).toBe(true);
      const drained = once(socket, 'drain');
      socket.send();
      await drained;
    }
    expect(heard).toEqual(['once', 'again', 'again']);
  });

  it('swallows writes to a socket that is closing', () => {
    const socket = new Slow();
    const sink = new Sink(socket, options);
    sink.cut();
    expect(sink.write([Buffer.alloc(1)])).toBe(true);
    expect(socket.writableLength).toBe(0);
  });

  it('swallows writes behind what a connection was ended with', async () => {
    const socket = new Slow();
    const failures: Error[] = [];
    socket.on('error', (error) => failures.push(error));
    const sink = new Sink(socket, options);
    socket.end(Buffer.alloc(1));
    expect(sink.write([Buffer.alloc(1)])).toBe(true);
    socket.send();
    await once(socket, 'finish');
    expect(failures).toEqual([]);
  });
});
