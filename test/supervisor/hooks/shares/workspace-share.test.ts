// What becomes of the runners of a workspace that take more than its share, while others need the processor and while not.
import { beforeEach, describe, expect, it } from 'vitest';
import { KernelHold } from '../../../../supervisor/hooks/shares/kernel-hold.ts';
import { WorkspaceShare } from '../../../../supervisor/hooks/shares/workspace-share.ts';
import { Worker } from './worker.ts';

const MiB = 1_048_576;
const share = { cpu_cores: 0.5, cpu_burst_ms: 1_000, memory_mb: 100 };
const tickMs = 250;

let now = 0;
let workspace: WorkspaceShare;
beforeEach(() => {
  now = 0;
  workspace = new WorkspaceShare(share, new KernelHold(undefined, () => {}));
});

function workers(...cores: number[]): Worker[] {
  const made = cores.map((part, index) => new Worker(`app${index}`, part));
  for (const worker of made) workspace.add(worker);
  return made;
}

/** Lets the runners work for so many seconds; returns the CPU time that they took, in seconds. */
function pass(seconds: number, { isAlone = false, spare = 0 } = {}): number {
  let used = 0;
  for (const end = now + seconds * 1_000; now < end; now += tickMs) {
    for (const worker of all) worker.work(tickMs);
    workspace.measure();
    used += workspace.used;
    workspace.balance({ now, elapsedMs: tickMs, spare, isAlone });
  }
  return used / 1_000;
}
let all: Worker[] = [];

describe('a workspace', () => {
  it('hook.cpu-share: takes its share while others need the processor, in as many runners as it likes', () => {
    all = workers(...Array<number>(30).fill(1));
    pass(20);
    const used = pass(60);
    expect(used).toBeGreaterThan(60 * 0.4);
    expect(used).toBeLessThan(60 * 0.6);
    // In turn.
    expect(all.every(({ cpu }) => cpu > 0)).toBe(true);
  });

  it('takes all that there is while nobody else needs it, and is not made to pay for that later', () => {
    all = workers(1, 1);
    expect(pass(60, { isAlone: true })).toBe(120);
    expect(all.some(({ isPaused }) => isPaused)).toBe(false);
    expect(pass(20)).toBeGreaterThan(20 * 0.4);
  });

  it('has besides its share what nobody takes', () => {
    all = workers(1, 1);
    pass(10);
    // Half a core.
    const used = pass(60, { spare: tickMs / 2 });
    expect(used).toBeGreaterThan(60 * 0.9);
    expect(used).toBeLessThan(60 * 1.1);
  });

  it('goes on at once when the others have gone, and lets those of its runners work that take little', () => {
    all = workers(1, 1, 0.01);
    pass(20);
    expect(all[2]?.cpu).toBeCloseTo(200);
    expect(all.some(({ isPaused }) => isPaused)).toBe(true);
    expect(all.map(({ isLast }) => isLast)).toEqual([true, true, true]);
    pass(0.25, { isAlone: true });
    expect(all.some(({ isPaused, isLast }) => isPaused || isLast)).toBe(false);
  });

  it('may save up for a burst, and no more than that', () => {
    all = workers(0.1);
    pass(60);
    const [worker] = all;
    all = [...all, ...workers(2)];
    pass(0.5);
    expect(all[1]?.isPaused).toBe(false);
    pass(2);
    expect(all[1]?.isPaused).toBe(true);
    expect(worker?.isPaused).toBe(false);
  });

  it('that goes on for half a minute is to lose the runner that took most, unless a call is under way', () => {
    all = workers(0.2, 1);
    pass(25);
    expect(all.flatMap(({ endings }) => endings)).toEqual([]);
    pass(10);
    expect(all.map(({ endings }) => endings)).toEqual([[], ['cpu false']]);
  });

  it('has its largest runner ended when they use more memory than it may, one after another', () => {
    all = workers(0, 0, 0);
    const [small, large, larger] = all;
    if (small === undefined || large === undefined || larger === undefined) {
      throw new Error('three were made');
    }
    [small.own, large.own, larger.own] = [30 * MiB, 40 * MiB, 50 * MiB];
    workspace.measure();
    expect(workspace.isOverMemory).toBe(true);
    expect(workspace.endLargest()).toBe(larger);
    expect(workspace.isOverMemory).toBe(false);
    expect(all.map(({ endings }) => endings)).toEqual([[], [], ['memory true']]);
    expect(workspace.usageOf('app1').own).toBe(40 * MiB);
  });
});
