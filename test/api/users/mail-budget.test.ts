// Nobody can fill a mailbox by asking for mail again and again.
import { describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, ownWorkspace } from '../../harness/api.ts';
import { mailsTo, outbox, secretFor, secretIn } from '../../harness/mailbox.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

const asked = 12;
const allowed = 5;
const own = await ownWorkspace();
const auth = `${own.path}/auth`;

/** By what is asked for: the request, and the address that is written to. */
const requests: Record<string, (user: OwnUser, next: string) => [() => Promise<ApiResponse>, string]> = {
  'a code': ({ email }) => [() => as().post(`${auth}/otp/request`, { email }), email],
  'a new password': ({ email }) => [() => as().post(`${auth}/password-reset/request`, { email }), email],
  'a verification': (user) => [() => user.post(`${auth}/verify-email/request`), user.email],
  'another address': (user, new_email) => [
    () => user.post(`${auth}/email-change/request`, { new_email, password: user.password }),
    new_email,
  ],
};

/** Mail leaves in order: once a later one has come, nothing is on its way any more. */
async function settled(): Promise<void> {
  const email = freshEmail();
  expectOk(await as().post(`${auth}/otp/request`, { email }));
  await secretFor(email);
}

describe('an address that is asked for mail too often', () => {
  it.each(Object.entries(requests))(
    'gets five at once, and every response is the same: %s',
    async (_what, of) => {
      const [request, address] = of(await ownUser(own), freshEmail());
      const responses: ApiResponse[] = [];
      for (let count = 0; count < asked; count++) responses.push(await request());
      expect(responses.map(({ status, body }) => [status, body])).toEqual(
        Array(asked).fill([200, { ok: true }]),
      );
      await settled();
      expect(await mailsTo(address, allowed)).toHaveLength(allowed);
    },
  );

  it('can use what it was mailed last, for nothing took its place', async () => {
    const email = freshEmail();
    for (let count = 0; count < asked; count++) {
      expectOk(await as().post(`${auth}/otp/request`, { email }));
      // One after another, so that the last is the last.
      await mailsTo(email, Math.min(count + 1, allowed));
    }
    const code = secretIn((await mailsTo(email, allowed)).at(-1) ?? '');
    expectOk(await as().post(`${auth}/otp/login`, { email, code }));
  });

  it('is another one in another workspace', async () => {
    const other = await ownWorkspace();
    const email = freshEmail();
    for (let count = 0; count < asked; count++) expectOk(await as().post(`${auth}/otp/request`, { email }));
    expectOk(await as().post(`${other.path}/auth/otp/request`, { email }));
    await settled();
    expect((await outbox()).filter((mail) => mail.includes(`\nTo: ${email}\n`))).toHaveLength(allowed + 1);
  });
});
