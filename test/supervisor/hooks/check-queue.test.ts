// Whose types are checked next, with a clock of the test's own.
import { describe, expect, it } from 'vitest';
import { CheckQueue, checkTimeoutMs } from '../../../supervisor/hooks/check-queue.ts';

function open() {
  let clock = 1_000_000;
  const queue = new CheckQueue<string>(() => clock);
  const pass = (milliseconds: number) => void (clock += milliseconds);
  return {
    queue,
    pass,
    add: (workspace: string, app: string, item = `${workspace}/${app}`) =>
      queue.add({ workspace, app }, item),
    /** Has the next one checked for so long. */
    check: (milliseconds: number) => {
      const item = queue.take()?.item;
      pass(milliseconds);
      queue.end();
      return item;
    },
  };
}

describe('checks of types', () => {
  it('are made in the order in which they are asked for, where nobody has had more than another', () => {
    const { queue, add } = open();
    for (const app of ['a', 'b', 'c']) add('acme', app);
    add('bank', 'a');
    expect([queue.take(), queue.take(), queue.take(), queue.take()].map((turn) => turn?.item)).toEqual([
      'acme/a',
      'acme/b',
      'acme/c',
      'bank/a',
    ]);
    expect(queue.take()).toBeUndefined();
  });

  it('are of the newest state of an app: the older one leaves the line', () => {
    const { queue, add } = open();
    expect(add('acme', 'shop', 'old')).toBeUndefined();
    expect(add('acme', 'shop', 'new')).toBe('old');
    expect(queue.take()?.item).toBe('new');
    expect(queue.take()).toBeUndefined();
  });

  it('have what is left of the time that they are waited for', () => {
    const { queue, add, pass } = open();
    add('acme', 'shop');
    add('acme', 'blog');
    pass(checkTimeoutMs - 1_000);
    expect(queue.take()?.left).toBe(1_000);
    pass(2_000);
    expect(queue.take()?.left).toBe(-1_000);
  });

  it('are first of the workspace that has had least, which is forgotten with time', () => {
    const { add, check, pass } = open();
    add('loud', 'a');
    check(2_000);
    const both = () => {
      add('loud', 'b');
      add('quiet', 'a');
      return [check(0), check(0)];
    };
    expect(both()).toEqual(['quiet/a', 'loud/b']);
    pass(20_000);
    expect(both()).toEqual(['loud/b', 'quiet/a']);
  });

  it('are not held against a workspace for more than ten minutes, however long they took together', () => {
    const { add, check, pass } = open();
    for (let round = 0; round < 100; round++) {
      add('loud', 'a');
      check(checkTimeoutMs);
    }
    pass(600_000);
    add('loud', 'b');
    add('quiet', 'a');
    expect(check(0)).toBe('loud/b');
  });

  it('make room for another workspace when they took a second more than that one has had, and not for their own', () => {
    const { queue, add, pass } = open();
    add('loud', 'a');
    queue.take();
    add('loud', 'b');
    expect(queue.makesRoomIn()).toBeUndefined();
    add('quiet', 'a');
    expect(queue.makesRoomIn()).toBe(1_000);
    pass(1_000);
    expect(queue.makesRoomIn()).toBe(0);
    expect(queue.putBack()).toBe(true);
    const rest = [queue.take()?.item, queue.take()?.item, queue.take()];
    expect(rest).toEqual(['quiet/a', 'loud/b', expect.objectContaining({ item: 'loud/a', left: 4_000 })]);
  });

  it('make room at once where the workspace has had as much before', () => {
    const { queue, add, check } = open();
    add('loud', 'a');
    check(checkTimeoutMs);
    add('loud', 'a');
    queue.take();
    add('quiet', 'a');
    expect(queue.makesRoomIn()).toBe(0);
  });

  it('make room once: one that has done so is not made room for in its turn', () => {
    const { queue, add, pass } = open();
    add('acme', 'a');
    queue.take();
    add('bank', 'a');
    pass(1_000);
    queue.putBack();
    expect(queue.take()?.item).toBe('bank/a');
    pass(3_000);
    expect(queue.makesRoomIn()).toBeUndefined();
  });

  it('make no room for one that nobody waits for any more', () => {
    const { queue, add, pass } = open();
    add('quiet', 'a');
    add('loud', 'a');
    queue.take();
    pass(checkTimeoutMs);
    expect(queue.makesRoomIn()).toBeUndefined();
  });

  it('are not put back where something newer of the app waits, nor once all is over', () => {
    const { queue, add } = open();
    add('acme', 'shop', 'old');
    queue.take();
    add('acme', 'shop', 'new');
    expect(queue.putBack()).toBe(false);
    queue.take();
    queue.close();
    expect(queue.putBack()).toBe(false);
    add('acme', 'blog');
    expect(queue.take()).toBeUndefined();
  });
});
