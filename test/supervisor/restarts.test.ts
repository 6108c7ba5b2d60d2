// When a crashed process is started again.
import { describe, expect, it } from 'vitest';
import { coreRestartRules, Restarts } from '../../supervisor/restarts.ts';

describe('restarts', () => {
  it('wait 100 ms after the first crash and twice as long after each further one', () => {
    const restarts = new Restarts({ ...coreRestartRules, maxCrashes: 100 });
    const waits = [0, 1, 2, 3].map((at) => restarts.crashed(at * 1000, undefined).waitMs);
    expect(waits).toEqual([100, 200, 400, 800]);
  });

  it('never wait longer than 30 s', () => {
    const restarts = new Restarts({ ...coreRestartRules, maxCrashes: 100 });
    const waits = Array.from({ length: 20 }, (_, at) => restarts.crashed(at, undefined).waitMs);
    expect(Math.max(...waits)).toBe(30_000);
  });

  it('rest when the fifth crash comes within 60 s', () => {
    const restarts = new Restarts(coreRestartRules);
    const verdicts = [0, 1, 2, 3, 59_999].map((at) => restarts.crashed(at, undefined));
    expect(verdicts.map(({ opened }) => opened)).toEqual([false, false, false, false, true]);
    expect(verdicts.at(-1)?.waitMs).toBe(30_000);
  });

  it('forget crashes that are older than 60 s', () => {
    const restarts = new Restarts(coreRestartRules);
    for (const at of [0, 1, 2, 3]) restarts.crashed(at, undefined);
    expect(restarts.crashed(60_003, undefined)).toEqual({ waitMs: 100, opened: false });
  });

  it('start from the beginning after a healthy while', () => {
    const restarts = new Restarts(coreRestartRules);
    for (const at of [0, 1, 2, 3]) restarts.crashed(at, undefined);
    expect(restarts.crashed(1000, 850)).toEqual({ waitMs: 100, opened: false });
  });

  it('do not take a short readiness for health', () => {
    const restarts = new Restarts(coreRestartRules);
    for (const at of [0, 1, 2, 3]) restarts.crashed(at, undefined);
    expect(restarts.crashed(1000, 900).opened).toBe(true);
  });
});
