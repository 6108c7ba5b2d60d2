// Several things that were mailed to one user, redeemed at the same time: one after the other, and none waits for ever.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Pool } from '../../../storage/connections/pool.ts';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';
import { howManyWait } from '../../harness/waiting.ts';

let own: OwnWorkspace;
let pool: Pool;

beforeAll(async () => {
  own = await ownWorkspace();
  pool = await openDatabaseOf(own.id);
});
afterAll(() => pool.end());

const post = (path: string, body: unknown) => as().post(`${own.path}/auth/${path}`, body);

/** What redeems something of a user, once it is prepared; `mails` counts those to the user's address. */
type Redeem = () => Promise<ApiResponse>;
type Prepare = (user: OwnUser, mails: { count: number }) => Promise<Redeem>;

const kinds: Record<string, Prepare> = {
  'a password reset': async ({ email }, mails) => {
    expectOk(await post('password-reset/request', { email }));
    const token = await secretFor(email, ++mails.count);
    return () => post('password-reset/confirm', { token, new_password: 'another password' });
  },
  'a code to log in': async ({ email }, mails) => {
    expectOk(await post('otp/request', { email }));
    const code = await secretFor(email, ++mails.count);
    return () => post('otp/login', { email, code });
  },
  'a verification': async (user, mails) => {
    expectOk(await user.post(`${own.path}/auth/verify-email/request`));
    const token = await secretFor(user.email, ++mails.count);
    return () => user.post(`${own.path}/auth/verify-email/confirm`, { token });
  },
  'a change of the address': async (user) => {
    const new_email = freshEmail();
    const { password } = user;
    expectOk(await user.post(`${own.path}/auth/email-change/request`, { new_email, password }));
    const token = await secretFor(new_email);
    return () => user.post(`${own.path}/auth/email-change/confirm`, { token });
  },
  'a challenge': async (user) => {
    const { email, password } = user;
    const { recoveryCodes: [code = ''] } = await enrol(user, `${own.path}/auth`);
    const { challenge_id } = expectOk(await post('users/login', { email, password }));
    return () => post('users/login/totp', { challenge_id, code });
  },
  'another request for a reset': ({ email }) =>
    Promise.resolve(() => post('password-reset/request', { email })),
};

/**
 * Sends one after the other while the user's row is held, and lets go of it when both wait; undefined when one was answered
 * before: where all connections were taken, the second stands behind the first at the same one until that has waited too long.
 */
async function atOnce(
  user: OwnUser,
  first: Redeem,
  second: Redeem,
): Promise<[ApiResponse, ApiResponse] | undefined> {
  const { responses, bothWaited } = await pool.transaction(async (sql) => {
    await sql`select 1 from workspace.users where id = ${user.id} for update`;
    let answered = 0;
    const count = (response: ApiResponse) => (answered++, response);
    const one = first().then(count);
    while (answered === 0 && await howManyWait(sql) < 1);
    const other = second().then(count);
    while (answered === 0 && await howManyWait(sql) < 2);
    return { responses: Promise.all([one, other]), bothWaited: answered === 0 };
  });
  const both = await responses;
  return bothWaited ? both : undefined;
}

it.each([
  ['a password reset', 'a verification', 400],
  ['a password reset', 'a code to log in', 401],
  ['a password reset', 'a change of the address', 400],
  ['a password reset', 'a challenge', 401],
  ['a password reset', 'another request for a reset', 200],
  ['a change of the address', 'a password reset', 400],
  ['a change of the address', 'a verification', 400],
  ['a code to log in', 'a password reset', 400],
])('is done, and then what comes at the same time: %s, %s', async (one, other, status) => {
  let responses: [ApiResponse, ApiResponse] | undefined;
  while (responses === undefined) {
    const user = await ownUser(own);
    const mails = { count: 0 };
    const second = await kinds[other]?.(user, mails) ?? expect.fail(other);
    const first = await kinds[one]?.(user, mails) ?? expect.fail(one);
    responses = await atOnce(user, first, second);
  }
  expect(responses.map((response) => response.status)).toEqual([200, status]);
});
