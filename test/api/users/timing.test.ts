// Nobody can tell from the time of an answer whether an address is known.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, as, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

/** What else runs on the machine may shift one comparison, a difference in the work shifts all. */
const options = { retry: 2, timeout: 120_000 };
const tries = 200;
const triesPerUser = 4;
let own: OwnWorkspace;
let auth: string;
let known: string[];

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
  const users = Array.from({ length: tries / triesPerUser }, () => ownUser(own));
  known = (await Promise.all(users)).map(({ email }) => email);
}, 60_000);

async function timed(ask: () => Promise<Answer>): Promise<number> {
  const began = performance.now();
  await ask();
  return performance.now() - began;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Medians of both, asked in turn so that the machine is as busy for one as for the other. */
async function compare(ask: (email: string) => Promise<Answer>): Promise<{ known: number; unknown: number }> {
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

/** Two milliseconds, or five percent of what it takes. */
function expectAlike(times: { known: number; unknown: number }): void {
  const allowed = Math.max(times.unknown * 0.05, 2);
  expect(Math.abs(times.known - times.unknown), JSON.stringify(times)).toBeLessThan(allowed);
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
