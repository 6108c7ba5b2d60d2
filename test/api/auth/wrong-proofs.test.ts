// What is answered to a wrong password or code: people read it, so it names what they typed.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol, wrongCode } from '../../harness/authenticator.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

function expectTold(response: ApiResponse, message: string): void {
  expect([response.status, response.body]).toEqual([401, { code: 'bad_credentials', message }]);
}

const ofCode = 'the code is wrong, has expired or has been used';
const ofLogin = 'the name or the password is wrong';

describe('a wrong code', () => {
  it('of an authenticator is named where it is confirmed, asked for at a login, and given to turn it off', async () => {
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/totp/enroll`));
    expectTold(await user.post(`${auth}/totp/confirm`, { code: 'abcdef' }), ofCode);
    const authenticator = await enrol(user, auth);
    const { email, password } = user;
    const { challenge_id } = expectOk(await as().post(`${auth}/users/login`, { email, password }));
    const responseWith = (code: string) => as().post(`${auth}/users/login/totp`, { challenge_id, code });
    expectTold(await responseWith(wrongCode(authenticator)), ofCode);
    expectTold(await responseWith(authenticator.used), ofCode);
    expectTold(await user.post(`${auth}/totp/disable`, { code: wrongCode(authenticator) }), ofCode);
  });

  it('that would have been mailed is named alike, whether or not anybody has the address', async () => {
    const { email } = await ownUser(own);
    for (const address of [email, freshEmail()]) {
      expectTold(await as().post(`${auth}/otp/login`, { email: address, code: '000000' }), ofCode);
    }
  });
});

describe('a wrong password', () => {
  it('of somebody who is logged in is named', async () => {
    const user = await ownUser(own);
    const change = { new_email: freshEmail(), password: 'not the password' };
    expectTold(await user.post(`${auth}/email-change/request`, change), 'the password is wrong');
  });

  it('is not told from a name that nobody has', async () => {
    const { email } = await ownUser(own);
    for (const name of [email, freshEmail()]) {
      const credentials = { email: name, password: 'not the password' };
      expectTold(await as().post(`${auth}/users/login`, credentials), ofLogin);
      expectTold(await as().post(`${auth}/admin/login`, credentials), ofLogin);
    }
  });
});
