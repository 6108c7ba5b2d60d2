// Identifiers: v7 UUIDs in the order they were made, with fresh random bits in each.
import { describe, expect, it } from 'vitest';
import { isUuid, uuidV4Source, uuidV7Source } from '../../../storage/sql/ids.ts';

describe('v7 ids', () => {
  it('have version, variant and the time they were made', () => {
    const id = uuidV7Source(() => 0x0123_4567_89ab)();
    expect(id).toMatch(/^01234567-89ab-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(isUuid(id)).toBe(true);
  });

  it('sort in the order they were made, within a millisecond and when the clock goes back', () => {
    const clock = [1_000, 1_000, 999, 5, 1_001];
    const next = uuidV7Source(() => clock.shift() ?? 1_001);
    const ids = Array.from({ length: 10_000 }, () => next());
    expect([...ids].sort()).toEqual(ids);
  });

  it('never share their random bits, however many are made', () => {
    const next = uuidV7Source(Date.now);
    const tails = new Set(Array.from({ length: 20_000 }, () => next().slice(19)));
    expect(tails.size).toBe(20_000);
  });
});

describe('v4 ids', () => {
  it('have version and variant, and never share their random bits', () => {
    const next = uuidV4Source();
    const ids = new Set(Array.from({ length: 20_000 }, () => next()));
    expect(ids.size).toBe(20_000);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });
});
