// Other work than passwords, by the clock.
import { describe, expect, it } from 'vitest';
import { OtherWork } from '../../../../api/auth/passwords/other-work.ts';
import { counting } from '../../../../api/logging/events.ts';

/** A process whose clock and requests the test moves. */
function quiet() {
  const { observe, answered } = counting(() => undefined);
  const done = (times: number, route: string) => {
    const fact = { type: 'request_done', method: 'POST', route, status: 200, ms: 1 } as const;
    for (let index = 0; index < times; index++) {
      observe({ ...fact, request_id: 'x', principal: 'none', workspace: undefined });
    }
  };
  let clock = 0;
  const work = new OtherWork({ now: () => clock, answered });
  const pass = (milliseconds: number, { others = 0, passwords = 0 } = {}) => {
    clock += milliseconds;
    done(others, '/api/workspaces/:workspace/apps');
    done(passwords / 2, '/api/workspaces/:workspace/auth/users/login');
    done(passwords / 2, '/_/auth/admin/login');
    return work.goesOn();
  };
  return pass;
}

describe('other work', () => {
  it('is requests but those of signing in, twenty a second or more', () => {
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
