// One count of failures for everything that an end-user can fail at.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol, wrongCode } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const post = (path: string, body: unknown) => as().post(`${auth}/${path}`, body);

describe('auth.lockout', () => {
  it('is shared by password, mailed code and second factor, and shuts all three', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const authenticator = await enrol(user, auth);
    expectOk(await post('otp/request', { email }));
    const mailed = await secretFor(email);
    const { challenge_id } = expectOk(await post('users/login', { email, password }));
    const failures = [
      await post('users/login', { email, password: 'wrong one' }),
      await post('otp/login', { email, code: mailed === '000000' ? '000001' : '000000' }),
      await post('users/login/totp', { challenge_id, code: wrongCode(authenticator) }),
      await post('users/login', { email: ` ${email.toUpperCase()} `, password: 'wrong two' }),
      await post('users/login/totp', { challenge_id, code: 'nonsense' }),
    ];
    expect(failures.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    const right = [
      await post('users/login', { email, password }),
      await post('otp/login', { email, code: mailed }),
      await post('users/login/totp', { challenge_id, code: authenticator.code() }),
    ];
    for (const { status, headers } of right) {
      expect(status).toBe(429);
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    }
  });
});
