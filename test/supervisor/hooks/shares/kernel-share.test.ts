// What the kernel is told of a workspace that takes more than its share. The kernel's part is played by the test.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KernelHold } from '../../../../supervisor/hooks/shares/kernel-hold.ts';
import { WorkspaceShare } from '../../../../supervisor/hooks/shares/workspace-share.ts';
import { type GroupFolder, makeGroupFolder } from './group-folder.ts';
import { Worker } from './worker.ts';

const share = { cpu_cores: 0.5, cpu_burst_ms: 1_000, memory_mb: 100 };
const machineCores = 2;
const tickMs = 250;
let folder: GroupFolder;
let group = '';
let now = 0;
let throttled = 0;
let workspace: WorkspaceShare;
let lost: unknown[] = [];
let worker: Worker;

beforeEach(async () => {
  folder = await makeGroupFolder('/');
  const opened = folder.groups().open('acme');
  group = join(folder.groupsPath, 'hooks/ws-acme');
  [now, throttled, lost] = [0, 0, []];
  writeFileSync(join(group, 'cpu.stat'), 'nr_throttled 0\n');
  workspace = new WorkspaceShare(share, new KernelHold(opened, (error) => lost.push(error)));
  workspace.makeRoom();
  worker = new Worker('app', machineCores);
  workspace.add(worker);
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Lets it work for so many seconds, held as `cpu.max` says; returns the cores that it had on average. */
function pass(seconds: number, { isAlone = false, others = 2 } = {}): number {
  let total = 0;
  for (const end = now + seconds * 1_000; now < end; now += tickMs) {
    const [quota, period] = limit().split(' ').map(Number);
    const cores = Number.isNaN(quota) ? worker.cores : Math.min(worker.cores, Number(quota) / Number(period));
    if (cores < worker.cores) writeFileSync(join(group, 'cpu.stat'), `nr_throttled ${++throttled}\n`);
    if (!worker.isPaused) worker.cpu += cores * tickMs;
    workspace.measure();
    total += workspace.used;
    const idle = Math.max(0, machineCores - cores - others);
    const spare = (idle - machineCores / 4) * tickMs;
    workspace.balance({ now, elapsedMs: tickMs, spare, isAlone });
  }
  return total / 1_000 / seconds;
}

function limit(): string {
  try {
    return readFileSync(join(group, 'cpu.max'), 'utf8');
  } catch {
    return 'max 100000';
  }
}

describe('a workspace that the kernel keeps to its share', () => {
  it('has its share while others need the processor, without being stopped, and is said to be held back', () => {
    pass(20);
    expect(pass(60)).toBeCloseTo(0.5, 1);
    expect(limit()).toBe('50000 100000');
    expect([worker.isPaused, worker.isSlowed]).toEqual([false, true]);
    // One that starts meanwhile is told too.
    const late = new Worker('other', 0);
    workspace.add(late);
    expect(late.isSlowed).toBe(true);
  });

  it('has what nobody takes, at once all of it when the others have gone, and is not slowed then', () => {
    pass(20);
    expect(pass(60, { others: 0.2 })).toBeCloseTo(1.3, 1);
    expect(pass(10, { isAlone: true })).toBeGreaterThan(1.9);
    expect(limit()).toBe('max 100000');
    expect(worker.isSlowed).toBe(false);
  });

  it('may save up for a burst', () => {
    expect(pass(0.5)).toBe(2);
    expect(limit()).toBe('max 100000');
  });

  it('has as much memory as policy says by now, and room for the processes of its runners', async () => {
    expect(await folder.read('hooks/ws-acme/memory.max')).toBe('104857600');
    workspace.set({ ...share, memory_mb: 200 });
    expect(await folder.read('hooks/ws-acme/memory.max')).toBe('209715200');
    expect(await folder.read('hooks/ws-acme/pids.max')).toBe('48');
    workspace.makeRoom();
    expect(await folder.read('hooks/ws-acme/pids.max')).toBe('96');
  });

  it('is stopped in turn as soon as the kernel does not hold it any more', async () => {
    pass(20);
    await folder[Symbol.asyncDispose]();
    folder = await makeGroupFolder('/');
    worker.cores = 1;
    expect(workspace.makeRoom()).toBeUndefined();
    expect(lost).toMatchObject([{ code: 'ENOENT' }]);
    workspace.measure();
    worker.cpu += tickMs;
    workspace.measure();
    workspace.balance({ now, elapsedMs: tickMs, spare: 0, isAlone: false });
    expect([worker.isPaused, worker.isSlowed]).toEqual([true, false]);
    expect(workspace.removeGroup()).toBe(true);
  });
});
