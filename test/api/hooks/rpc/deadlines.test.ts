// Many deadlines on one timer: each is heard of when it is due, whatever was set before and after it.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadlines } from '../../../../api/hooks/rpc/deadlines.ts';
import { PausedTime } from '../../../../api/hooks/rpc/paused-time.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function watched() {
  const due: [id: number, at: number][] = [];
  const began = performance.now();
  const paused = new PausedTime();
  const deadlines = new Deadlines((id) => void due.push([id, performance.now() - began]), paused);
  return { due, set: (id: number, after: number) => deadlines.set(id, began + after), deadlines, paused };
}

it('come in the order of time, not in that of setting', () => {
  const { due, set } = watched();
  for (const [id, after] of [[1, 500], [2, 100], [3, 300]] as const) set(id, after);
  vi.advanceTimersByTime(1_000);
  expect(due).toEqual([[2, 100], [3, 300], [1, 500]]);
});

it('do not come once they are taken away, and as they were set last', () => {
  const { due, set, deadlines } = watched();
  for (const id of [1, 2, 3]) set(id, 100);
  deadlines.delete(1);
  set(2, 400);
  vi.advanceTimersByTime(1_000);
  expect(due).toEqual([[3, 100], [2, 400]]);
  set(4, 2_000);
  deadlines.clear();
  vi.advanceTimersByTime(5_000);
  expect(due.length).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});

it('may be set by whoever hears of another', () => {
  const due: number[] = [];
  const deadlines: Deadlines = new Deadlines((id) => {
    due.push(id);
    if (id < 3) deadlines.set(id + 1, performance.now() + 10);
  }, new PausedTime());
  deadlines.set(1, performance.now() + 10);
  vi.advanceTimersByTime(29);
  expect(due).toEqual([1, 2]);
  vi.advanceTimersByTime(1);
  expect(due).toEqual([1, 2, 3]);
});

it('move with the pauses of the runner, until it has had its time again', () => {
  const { due, set, paused } = watched();
  set(1, 100);
  vi.advanceTimersByTime(60);
  paused.set(true, performance.now());
  set(2, 300);
  vi.advanceTimersByTime(70);
  paused.set(false, performance.now());
  // 40 ms of the first are left, and 170 of the second.
  vi.advanceTimersByTime(39);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(due.map(([id]) => id)).toEqual([1, 2]);
  expect(due[0]?.[1]).toBeGreaterThanOrEqual(170);
  expect(due[1]?.[1]).toBeGreaterThanOrEqual(370);
  due.length = 0;
  const began = performance.now();
  set(3, 1_330);
  paused.set(true, began);
  vi.advanceTimersByTime(10_000);
  expect(due.map(([id]) => id)).toEqual([3]);
});
