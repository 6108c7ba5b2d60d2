// Other work than passwords, by the clock.
import { describe, expect, it } from 'vitest';
import { OtherWork } from '../../../api/auth/other-work.ts';

/** A process whose clock and requests the test moves. */
function quiet() {
  const state = { clock: 0, answered: 0 };
  const work = new OtherWork({ now: () => state.clock, answered: () => state.answered });
  const pass = (milliseconds: number, { others = 0, passwords = 0 } = {}) => {
    state.clock += milliseconds;
    state.answered += others + passwords;
    for (let index = 0; index < passwords; index++) work.passwordDone();
    return work.goesOn();
  };
  return pass;
}

describe('other work', () => {
  it('is requests that need no password, twenty a second or more', () => {
    const pass = quiet();
    expect(pass(1_000, { others: 19 })).toBe(false);
    expect(pass(1_000, { others: 20 })).toBe(true);
    expect(pass(1_000, { passwords: 500 })).toBe(false);
    expect(pass(1_000, { passwords: 500, others: 20 })).toBe(true);
  });

  it('is noticed, and its end too, after a fifth of a second', () => {
    const pass = quiet();
    expect(pass(199, { others: 100 })).toBe(false);
    expect(pass(1)).toBe(true);
    expect(pass(199)).toBe(true);
    expect(pass(1)).toBe(false);
  });
});
