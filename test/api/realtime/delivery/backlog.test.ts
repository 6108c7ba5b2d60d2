// The bound on what waits for all streams together, on streams whose writes the test lets through.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Backlog } from '../../../../api/realtime/delivery/backlog.ts';
import { Sink } from '../../../../api/realtime/delivery/sink.ts';
import { Slow } from '../slow-socket.ts';

const bounds = { waitingBytes: 1_000_000, stallMs: 10_000 };

/** Streams that share one bound, of 10,000 bytes when none is given. */
function streams(mostBytes = 10_000, onCut?: (workspace: string) => void) {
  const backlog = new Backlog(mostBytes, onCut);
  return (workspace: string) => {
    const socket = new Slow();
    const sink = new Sink(socket, { workspace, bounds, backlog });
    return { socket, write: (bytes: number) => sink.write([Buffer.alloc(bytes)]), sink };
  };
}

it('cuts off the stream for which most waits, of the workspace with most', () => {
  const open = streams();
  const [small, large, other] = [open('heavy'), open('heavy'), open('light')];
  other.write(4_000);
  small.write(1_000);
  large.write(3_500);
  expect([small, large, other].map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
  small.write(1_500);
  expect([small, large, other].map(({ socket }) => socket.destroyed)).toEqual([false, true, false]);
});

it('says whose streams it cuts off', () => {
  const cut: string[] = [];
  const open = streams(10_000, (workspace) => void cut.push(workspace));
  open('light').write(2_000);
  open('heavy').write(9_000);
  expect(cut).toEqual(['heavy']);
});

it('cuts off more than one when they are alike', () => {
  const open = streams();
  const many = Array.from({ length: 12 }, () => open('acme'));
  for (const { write } of many) write(1_000);
  const waiting = many.filter(({ socket }) => !socket.destroyed).reduce(
    (sum, { socket }) => sum + socket.writableLength,
    0,
  );
  expect(waiting).toBeLessThanOrEqual(10_000);
  expect(waiting).toBeGreaterThan(3_000);
});

it('cuts off streams of a second workspace when those of the first do not make room enough', () => {
  const open = streams();
  const many = Array.from({ length: 8 }, () => open('many'));
  for (const { write } of many) write(1_000);
  const one = open('one');
  one.write(8_000);
  expect(one.socket.destroyed).toBe(true);
  expect(many.filter(({ socket }) => !socket.destroyed)).toHaveLength(4);
});

it('spares those who wait for what others wait for too, before those who wait for their own', () => {
  const open = streams();
  const together = Array.from({ length: 5 }, () => open('acme'));
  const shared = Buffer.alloc(4_000);
  for (const { sink } of together) sink.write([shared]);
  const alone = [open('acme'), open('acme')];
  for (const [at, bytes] of [3_000, 2_200].entries()) alone[at]?.write(bytes);
  expect(alone.map(({ socket }) => socket.destroyed)).toEqual([true, true]);
  expect(together.map(({ socket }) => socket.destroyed)).not.toContain(true);
});

it('counts once what several wait for', () => {
  const open = streams();
  const many = Array.from({ length: 20 }, () => open('acme'));
  const shared = Buffer.alloc(5_000);
  for (const { sink } of many) sink.write([shared]);
  expect(many.filter(({ socket }) => socket.destroyed)).toEqual([]);
});

it('counts what pieces take besides their bytes', () => {
  const open = streams();
  const { sink, socket } = open('acme');
  const shared = Buffer.alloc(1);
  for (let written = 0; written < 200; written++) sink.write([shared]);
  expect(socket.destroyed).toBe(true);
});

it('counts no longer what has left', async () => {
  const open = streams();
  const { socket, write } = open('acme');
  for (let written = 0; written < 10; written++) {
    write(4_000);
    write(4_000);
    for (let sent = 0; sent < 2; sent++) {
      socket.send();
      await nextTurn();
    }
  }
  expect(socket.destroyed).toBe(false);
});

it.each([
  ['when its socket wants more', 100_000, () => undefined],
  ['when it is looked at', 10_000, (sink: Sink) => sink.isStalled(0)],
])(
  'counts no longer what has left a stream %s, though more waits for another',
  async (_when, bytes, look) => {
    const open = streams(2 * bytes);
    const [done, waiting] = [open('acme'), open('acme')];
    done.write(bytes);
    done.socket.send();
    await nextTurn();
    look(done.sink);
    waiting.write(1.5 * bytes);
    expect(waiting.socket.destroyed).toBe(false);
  },
);

it('counts no longer what was to go to a connection that has closed', async () => {
  const open = streams();
  const [gone, staying] = [open('acme'), open('acme')];
  gone.write(4_000);
  gone.socket.destroy();
  await nextTurn();
  staying.write(6_000);
  expect(staying.socket.destroyed).toBe(false);
});

it('takes nothing more of a stream that it has cut off', () => {
  const open = streams();
  const { socket, write } = open('acme');
  expect(write(20_000)).toBe(true);
  expect(socket.destroyed).toBe(true);
  expect(write(20_000)).toBe(true);
});
