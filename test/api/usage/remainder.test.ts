// The remainder of a quota: claims never exceed it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, Remainder, type RemainderOptions } from '../../../api/usage/remainder.ts';

const one = { min: 1, max: 1 };

/** What is stored, as a database would count it; a count takes a turn. */
function store(options: Partial<RemainderOptions> = {}) {
  const state = { stored: 0, counts: 0, time: 0 };
  const remainder = new Remainder({
    isAlone: true,
    workers: 1,
    worker: 0,
    leaks: false,
    now: () => state.time,
    count: async () => {
      state.counts++;
      await Promise.resolve();
      return state.stored;
    },
    ...options,
  });
  return { state, remainder };
}

async function fill(remainder: Remainder, below: number, state: { stored: number }): Promise<boolean> {
  const claim = await remainder.take(below, one);
  if (claim === undefined) return false;
  state.stored++;
  claim.settle(1);
  return true;
}

describe('a process that is alone', () => {
  it('counts once for many claims', async () => {
    const { state, remainder } = store();
    for (let times = 0; times < 50; times++, state.time += 1_000) {
      expect(await fill(remainder, 100, state)).toBe(true);
    }
    expect(state).toMatchObject({ stored: 50, counts: 1 });
  });

  it('never grants more than is left, in any order of claims and settlements', async () => {
    const step = fc.oneof(
      fc.constant('take' as const),
      fc.constant('keep' as const),
      fc.constant('return' as const),
      fc.constant('delete' as const),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 6 }),
        fc.array(step, { maxLength: 60, size: 'max' }),
        async (most, steps) => {
          const { state, remainder } = store();
          const claims: Claim[] = [];
          for (const what of steps) {
            if (what === 'take') {
              const claim = await remainder.take(most, one);
              if (claim !== undefined) claims.push(claim);
              else expect(state.stored + claims.length).toBeGreaterThanOrEqual(most);
            } else if (what === 'delete') state.stored = Math.max(0, state.stored - 1);
            else {
              const claim = claims.shift();
              if (claim === undefined) continue;
              if (what === 'keep') state.stored++;
              claim.settle(what === 'keep' ? 1 : 0);
            }
            expect(state.stored + claims.length).toBeLessThanOrEqual(most);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('grants as many simultaneous claims as fit', async () => {
    const { state, remainder } = store();
    const all = await Promise.all(Array.from({ length: 200 }, () => fill(remainder, 60, state)));
    expect(all.filter(Boolean)).toHaveLength(60);
    expect(state.stored).toBe(60);
  });

  it('counts again before it refuses, once for all claims that wait', async () => {
    const { state, remainder } = store();
    state.stored = 10;
    expect(await fill(remainder, 10, state)).toBe(false);
    state.stored = 9;
    const before = state.counts;
    const both = await Promise.all([fill(remainder, 10, state), fill(remainder, 10, state)]);
    expect(both.filter(Boolean)).toHaveLength(1);
    expect(state.counts - before).toBe(1);
  });

  it('counts again for another quota', async () => {
    const { state, remainder } = store();
    expect(await fill(remainder, 1, state)).toBe(true);
    expect(await fill(remainder, 1, state)).toBe(false);
    expect(await fill(remainder, 2, state)).toBe(true);
    expect(await fill(remainder, 1, state)).toBe(false);
  });

  it('grants nothing above a quota that was lowered', async () => {
    const { state, remainder } = store();
    for (let times = 0; times < 5; times++) await fill(remainder, 100, state);
    expect(await fill(remainder, 5, state)).toBe(false);
  });

  it('grants all that is left, when that is enough', async () => {
    const { state, remainder } = store();
    state.stored = 70;
    const claim = await remainder.take(100, { min: 1, max: 50 });
    expect(claim?.amount).toBe(30);
    expect(await remainder.take(100, { min: 1, max: 50 })).toBeUndefined();
    claim?.settle(10);
    state.stored += 10;
    const { counts } = state;
    expect((await remainder.take(100, { min: 1, max: 50 }))?.amount).toBe(20);
    expect(state.counts).toBe(counts);
  });

  it('rejects a claim when the count fails, and counts for the next', async () => {
    let fails = true;
    const { remainder } = store({
      count: () => fails ? Promise.reject(new Error('lost')) : Promise.resolve(0),
    });
    await expect(remainder.take(1, one)).rejects.toThrow('lost');
    fails = false;
    expect((await remainder.take(1, one))?.amount).toBe(1);
  });
});

describe('several processes', () => {
  it('together never exceed the quota when nothing is under way as they count', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 40 }),
        fc.array(
          fc.record({
            worker: fc.nat({ max: 3 }),
            after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 3_000 })),
          }),
          { maxLength: 120, size: 'max' },
        ),
        async (workers, most, writes) => {
          const state = { stored: 0, time: 0 };
          const rooms = Array.from({ length: workers }, (_unused, worker) =>
            new Remainder({
              isAlone: false,
              workers,
              worker,
              leaks: false,
              now: () => state.time,
              count: () => Promise.resolve(state.stored),
            }));
          for (const { worker, after } of writes) {
            state.time += after;
            const remainder = rooms[worker % workers];
            if (remainder !== undefined) await fill(remainder, most, state);
            expect(state.stored).toBeLessThanOrEqual(most);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('count once more when the five seconds are over before they have counted', async () => {
    const state = { counts: 0, time: 4_999 };
    const remainder = new Remainder({
      isAlone: false,
      workers: 2,
      worker: 0,
      leaks: false,
      now: () => state.time,
      count: () => {
        state.counts++;
        state.time = 5_000;
        return Promise.resolve(0);
      },
    });
    await remainder.take(10, one);
    expect(state.counts).toBe(2);
  });

  it('use all of it in the end', async () => {
    const state = { stored: 0, time: 0 };
    const rooms = [0, 1, 2].map((worker) =>
      new Remainder({
        isAlone: false,
        workers: 3,
        worker,
        leaks: false,
        now: () => state.time,
        count: () => Promise.resolve(state.stored),
      })
    );
    // Also when all of the last ones are to be had by a single process.
    for (let span = 0; span < 20; span++, state.time += 5_000) {
      for (const remainder of state.stored < 15 ? rooms : rooms.slice(2)) await fill(remainder, 17, state);
    }
    expect(state.stored).toBe(17);
  });
});
