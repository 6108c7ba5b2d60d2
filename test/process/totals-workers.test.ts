// Two API processes on one port: the totals of both are right, whichever of them has written.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { openPair, type Pair } from '../harness/two-processes.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => pair.stop());

async function total(filter = ''): Promise<number> {
  return expectOk(await pair.ask('GET', `${pair.records}?per_page=1${filter}`)).total_items;
}

it('answers exact totals from both of two API processes while both write', { timeout: 60_000 }, async () => {
  for (const title of ['a', 'b', 'c']) expectOk(await pair.ask('POST', pair.records, { title }));
  const tally = { begun: 3, made: 3, leaving: 0, left: 0 };
  let writing = true;
  let reads = 0;
  const writer = async () => {
    for (let n = 0; n < 30; n++) {
      tally.begun++;
      const { id } = expectOk(await pair.ask('POST', pair.records, { title: 'w' }));
      tally.made++;
      // On the same connection or not, whoever asks after the response must see the write.
      expect(await total(`&filter=${encodeURIComponent(`id = "${id}"`)}`)).toBe(1);
      if (n % 2 === 0) continue;
      tally.leaving++;
      expectOk(await pair.ask('DELETE', `${pair.records}/${id}`));
      tally.left++;
    }
  };
  const reader = async () => {
    while (writing) {
      const before = { ...tally };
      const seen = await total();
      expect(seen).toBeGreaterThanOrEqual(before.made - tally.leaving);
      expect(seen).toBeLessThanOrEqual(tally.begun - before.left);
      reads++;
    }
  };
  const readers = Promise.all([reader(), reader()]);
  await Promise.all([writer(), writer()]);
  writing = false;
  await readers;
  expect(reads).toBeGreaterThan(20);
  const last = tally.made - tally.left;
  expect(await Promise.all(Array.from({ length: 20 }, () => total()))).toEqual(
    Array.from({ length: 20 }, () => last),
  );
});

it('answers from the other process what one has just written, also where it remembered a total', async () => {
  let expected = await total();
  for (let round = 0; round < 20; round++) {
    // Both have the total in memory by now, as far as nothing else writes.
    await Promise.all(Array.from({ length: 8 }, () => total()));
    expectOk(await pair.ask('POST', pair.records, { title: 'x' }));
    expected++;
    const seen = await Promise.all(Array.from({ length: 8 }, () => total()));
    expect(new Set(seen)).toEqual(new Set([expected]));
  }
});
