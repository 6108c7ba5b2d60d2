// Whose types are checked next, with a clock of the test's own.
import { describe, expect, it } from 'vitest';
import { checkPatience, CheckTurns } from '../../../supervisor/hooks/check-queue.ts';

function open() {
  let clock = 1_000_000;
  const turns = new CheckTurns<string>(() => clock);
  const pass = (milliseconds: number) => void (clock += milliseconds);
  return {
    turns,
    pass,
    add: (workspace: string, app: string, item = `${workspace}/${app}`) =>
      turns.add({ workspace, app }, item),
    /** Has the next one checked for so long. */
    check: (milliseconds: number) => {
      const item = turns.take()?.item;
      pass(milliseconds);
      turns.end();
      return item;
    },
  };
}

describe('checks of types', () => {
  it('are made in the order in which they are asked for, where nobody has had more than another', () => {
    const { turns, add } = open();
    for (const app of ['a', 'b', 'c']) add('acme', app);
    add('bank', 'a');
    expect([turns.take(), turns.take(), turns.take(), turns.take()].map((turn) => turn?.item)).toEqual([
      'acme/a',
      'acme/b',
      'acme/c',
      'bank/a',
    ]);
    expect(turns.take()).toBeUndefined();
  });

  it('are of the newest state of an app: the older one leaves the line', () => {
    const { turns, add } = open();
    expect(add('acme', 'shop', 'old')).toBeUndefined();
    expect(add('acme', 'shop', 'new')).toBe('old');
    expect(turns.take()?.item).toBe('new');
    expect(turns.take()).toBeUndefined();
  });

  it('have what is left of the time that they are waited for', () => {
    const { turns, add, pass } = open();
    add('acme', 'shop');
    add('acme', 'blog');
    pass(checkPatience - 1_000);
    expect(turns.take()?.left).toBe(1_000);
    pass(2_000);
    expect(turns.take()?.left).toBe(-1_000);
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
      check(checkPatience);
    }
    pass(600_000);
    add('loud', 'b');
    add('quiet', 'a');
    expect(check(0)).toBe('loud/b');
  });

  it('make room for another workspace when they took a second more than that one has had, and not for their own', () => {
    const { turns, add, pass } = open();
    add('loud', 'a');
    turns.take();
    add('loud', 'b');
    expect(turns.makesRoomIn()).toBeUndefined();
    add('quiet', 'a');
    expect(turns.makesRoomIn()).toBe(1_000);
    pass(1_000);
    expect(turns.makesRoomIn()).toBe(0);
    expect(turns.putBack()).toBe(true);
    const rest = [turns.take()?.item, turns.take()?.item, turns.take()];
    expect(rest).toEqual(['quiet/a', 'loud/b', expect.objectContaining({ item: 'loud/a', left: 4_000 })]);
  });

  it('make room at once where the workspace has had as much before', () => {
    const { turns, add, check } = open();
    add('loud', 'a');
    check(checkPatience);
    add('loud', 'a');
    turns.take();
    add('quiet', 'a');
    expect(turns.makesRoomIn()).toBe(0);
  });

  it('make room once: one that has done so is not made room for in its turn', () => {
    const { turns, add, pass } = open();
    add('acme', 'a');
    turns.take();
    add('bank', 'a');
    pass(1_000);
    turns.putBack();
    expect(turns.take()?.item).toBe('bank/a');
    pass(3_000);
    expect(turns.makesRoomIn()).toBeUndefined();
  });

  it('make no room for one that nobody waits for any more', () => {
    const { turns, add, pass } = open();
    add('quiet', 'a');
    add('loud', 'a');
    turns.take();
    pass(checkPatience);
    expect(turns.makesRoomIn()).toBeUndefined();
  });

  it('are not put back where something newer of the app waits, nor once all is over', () => {
    const { turns, add } = open();
    add('acme', 'shop', 'old');
    turns.take();
    add('acme', 'shop', 'new');
    expect(turns.putBack()).toBe(false);
    turns.take();
    turns.close();
    expect(turns.putBack()).toBe(false);
    add('acme', 'blog');
    expect(turns.take()).toBeUndefined();
  });
});
