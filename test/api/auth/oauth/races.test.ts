// A state works once, whoever tries at the same time: 50 at once, 20 rounds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { type CodeHost, startCodeHost } from '../../../harness/code-host.ts';
import { authorize, redeem, useProvider } from '../../../harness/oauth.ts';
import { freshEmail } from '../../../harness/users.ts';

const rounds = 20;
const runners = 50;
let own: OwnWorkspace;
let host: CodeHost;

beforeAll(async () => {
  [own, host] = await Promise.all([ownWorkspace(), startCodeHost()]);
  await useProvider(own, 'github', host);
});
afterAll(() => host.close());

const account = (id: number, email: string) => ({ id, emails: [{ email, primary: true, verified: true }] });

describe('otp.single-use-race', () => {
  it('lets exactly one callback with a state win each time, and asks the provider for no other', async () => {
    const winners: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { authorize_url } = expectOk(await authorize(own, 'github'));
      const back = host.enter(authorize_url, account(round, freshEmail()));
      const responses = await Promise.all(Array.from({ length: runners }, () => redeem(own, 'github', back)));
      winners.push(responses.filter(({ status }) => status === 200).length);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 400]));
    }
    expect(winners).toEqual(Array(rounds).fill(1));
    expect(host.exchanges).toHaveLength(rounds);
  }, 120_000);

  it.each([
    ['one address', 1_000, Array<string>(10).fill(freshEmail())],
    ['another address each time', 1_001, Array.from({ length: 10 }, freshEmail)],
  ])('makes one user of an account that comes several times at once with %s', async (_what, id, emails) => {
    const backs = await Promise.all(
      emails.map(async (email) => {
        const { authorize_url } = expectOk(await authorize(own, 'github'));
        return host.enter(authorize_url, account(id, email));
      }),
    );
    const responses = await Promise.all(backs.map((back) => redeem(own, 'github', back)));
    expect(new Set(responses.map((response) => expectOk(response).user.id)).size).toBe(1);
  });
});
