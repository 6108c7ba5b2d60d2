// Two API processes on one port: a key that one of them has deleted is soon refused by both.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { askEither, openPair, type Pair, untilBoth } from '../harness/two-processes.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => pair.stop());

it(
  'refuses a deleted key within two seconds, whichever process has seen it',
  { timeout: 60_000 },
  async () => {
    const body = { name: 'a key', scopes: ['records:read'] };
    const { id, secret } = expectOk(await pair.ask('POST', `${pair.app}/keys`, body));
    const list = () => askEither(pair.url + pair.records, 'GET', { token: secret });
    await untilBoth(list, ({ status }) => status === 200);
    expectOk(await pair.ask('DELETE', `${pair.app}/keys/${id}`));
    await untilBoth(list, ({ status }) => status === 401);
    expect((await list()).body.code).toBe('unauthorized');
  },
);
