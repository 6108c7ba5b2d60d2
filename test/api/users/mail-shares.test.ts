// Finding 12 of the attack: one client made the server mail 599 strangers in ten seconds, and many clients 5,219.
import { beforeEach, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { mailsTo, outbox, secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const asked = 8;
const allowed = 3;
let own: OwnWorkspace;

beforeEach(async () => {
  own = await ownWorkspace();
});

async function allow(quota: string, max: number): Promise<void> {
  expectOk(await own.admin.put(`${own.path}/policies/quota.${quota}`, { kind: 'range', min: 0, max }));
}

/** Asks for mail to as many strangers. Returns how many get one, once a mail of another workspace has come, which left later. */
async function mailStrangers(request: (email: string) => Promise<ApiResponse>): Promise<number> {
  const strangers = Array.from({ length: asked }, freshEmail);
  for (const email of strangers) {
    expect(await request(email)).toMatchObject({ status: 200, body: { ok: true } });
  }
  const other = await ownWorkspace();
  const last = freshEmail();
  expectOk(await as().post(`${other.path}/auth/otp/request`, { email: last }));
  await mailsTo(last);
  const mails = await outbox();
  return strangers.filter((email) => mails.some((mail) => mail.includes(`\nTo: ${email}\n`))).length;
}

const requestCode = (email: string) => as().post(`${own.path}/auth/otp/request`, { email });

it.each(['mails_per_client_hour', 'mails_per_hour'])(
  'strangers get no more mail than quota.%s allows, and the responses are the same',
  async (quota) => {
    await allow(quota, allowed);
    expect(await mailStrangers(requestCode)).toBe(allowed);
    expect(expectOk(await own.admin.get(`${own.path}/usage`)).quotas[quota]).toBe(allowed);
  },
);

it('users who ask for a verification or another address spend the same budget', async () => {
  const user = await ownUser(own);
  await allow('mails_per_hour', allowed);
  expectOk(await user.post(`${own.path}/auth/verify-email/request`));
  await mailsTo(user.email);
  const request = (new_email: string) =>
    user.post(`${own.path}/auth/email-change/request`, { new_email, password: user.password });
  expect(await mailStrangers(request)).toBe(allowed - 1);
  expectOk(await user.post(`${own.path}/auth/verify-email/request`));
  expectOk(await as().post(`${own.path}/auth/password-reset/request`, { email: user.email }));
  expect(await mailsTo(user.email)).toHaveLength(1);
});

it('a request beyond the budget leaves the last code as it is', async () => {
  const email = freshEmail();
  expectOk(await requestCode(email));
  const code = await secretFor(email);
  await allow('mails_per_client_hour', 0);
  expectOk(await requestCode(email));
  expectOk(await as().post(`${own.path}/auth/otp/login`, { email, code }));
});

it('the operator sees in the usage of a workspace how many mails it sent', async () => {
  const user = await ownUser(own);
  expectOk(await user.post(`${own.path}/auth/verify-email/request`));
  expectOk(await requestCode(freshEmail()));
  // Nobody has this address, so nothing is sent.
  expectOk(await as().post(`${own.path}/auth/password-reset/request`, { email: freshEmail() }));
  await expect.poll(async () => (await own.master.get(`${own.path}/usage`)).body.mails_24h).toBe(2);
});
