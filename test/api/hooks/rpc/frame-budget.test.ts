// Invocations with large frames: how many a runner has at once.
import { describe, expect, it } from 'vitest';
import { FrameBudget } from '../../../../api/hooks/rpc/frame-budget.ts';

const MiB = 1_048_576;
const textOf = (name: string, length: number) => name.padEnd(length, '.');

function budgeted() {
  const sent: string[] = [];
  return { sent, frames: new FrameBudget((text) => void sent.push(text.replace(/\.*$/, ''))) };
}

describe('large frames', () => {
  it('are sent up to 16 MiB, and further ones in their order as others end', () => {
    const { sent, frames } = budgeted();
    frames.begin(1, textOf('a', 8 * MiB));
    frames.begin(2, textOf('b', 8 * MiB));
    frames.begin(3, textOf('c', 8 * MiB));
    frames.begin(4, textOf('d', MiB));
    frames.begin(5, textOf('small', 65_536));
    expect(sent).toEqual(['a', 'b', 'small']);
    expect(frames.end(5)).toBe(true);
    expect(frames.end(2)).toBe(true);
    expect(sent).toEqual(['a', 'b', 'small', 'c']);
    frames.end(2);
    expect(sent.length).toBe(4);
    frames.end(1);
    expect(sent.at(-1)).toBe('d');
  });

  it('that are not so large wait behind those that are', () => {
    const { sent, frames } = budgeted();
    frames.begin(1, textOf('a', 8 * MiB));
    frames.begin(2, textOf('b', 9 * MiB));
    frames.begin(3, textOf('c', MiB));
    expect(sent).toEqual(['a']);
    frames.end(1);
    expect(sent).toEqual(['a', 'b', 'c']);
  });

  it('of any length are sent alone', () => {
    const { sent, frames } = budgeted();
    frames.begin(1, textOf('a', 17 * MiB));
    frames.begin(2, textOf('b', 17 * MiB));
    expect(sent).toEqual(['a']);
    frames.end(1);
    expect(sent).toEqual(['a', 'b']);
  });

  it('are never sent when they are over before', () => {
    const { sent, frames } = budgeted();
    for (const id of [1, 2, 3]) frames.begin(id, textOf(`n${id}`, 12 * MiB));
    expect(frames.end(2)).toBe(false);
    expect(frames.end(1)).toBe(true);
    expect(sent).toEqual(['n1', 'n3']);
  });

  it('hold up nobody once they are over', () => {
    const { sent, frames } = budgeted();
    frames.begin(1, textOf('a', 8 * MiB));
    frames.begin(2, textOf('b', 9 * MiB));
    frames.begin(3, textOf('c', MiB));
    expect(frames.end(2)).toBe(false);
    expect(sent).toEqual(['a', 'c']);
  });
});
