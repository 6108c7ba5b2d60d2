// Nobody can tell from the time of a response whether an address is known.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { measured } from '../../harness/measured.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const options = { ...measured, timeout: 180_000 };
const tries = 100;
const triesPerUser = 4;
let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
}, 60_000);

/** Users of a comparison's own, as too many wrong passwords lock one out. */
async function registerKnown(): Promise<string[]> {
  const known: string[] = [];
  // One after the other: of so many at once, a busy machine turns the last away.
  while (known.length < tries / triesPerUser) known.push((await ownUser(own)).email);
  return known;
}

async function timed(ask: () => Promise<ApiResponse>): Promise<number> {
  const began = performance.now();
  const { status } = await ask();
  // A lockout is answered at once, and would be compared with a check.
  expect(status).toBeLessThan(429);
  return performance.now() - began;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Medians of both, asked in turn so that the machine is as busy for one as for the other. */
async function compare(
  ask: (email: string) => Promise<ApiResponse>,
): Promise<{ known: number; unknown: number }> {
  const known = await registerKnown();
  const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
  for (let round = 0; round < tries; round++) {
    const email = known[round % known.length] ?? '';
    const order = round % 2 === 0 ? ['known', 'unknown'] as const : ['unknown', 'known'] as const;
    for (const kind of order) {
      times[kind].push(await timed(() => ask(kind === 'known' ? email : freshEmail())));
    }
  }
  return { known: median(times.known), unknown: median(times.unknown) };
}

/**
 * The aim is five percent on a quiet machine, and is printed; tests share theirs, so what is asserted is what a skipped
 * hash or write would break by far: two milliseconds, or a quarter.
 */
function expectAlike(times: { known: number; unknown: number }): void {
  console.log(`known ${times.known.toFixed(2)} ms, unknown ${times.unknown.toFixed(2)} ms`);
  const allowed = Math.max(times.unknown * 0.25, 2);
  expect(Math.abs(times.known - times.unknown)).toBeLessThan(allowed);
}

describe('auth.timing', () => {
  it('is the same for a wrong password and for an unknown email', options, async () => {
    const password = 'a wrong password';
    expectAlike(await compare((email) => as().post(`${auth}/users/login`, { email, password })));
  });

  it.each(['password-reset', 'otp'])(
    'is the same for a known and for an unknown email: %s',
    options,
    async (flow) => {
      expectAlike(await compare((email) => as().post(`${auth}/${flow}/request`, { email })));
    },
  );
});
