// An end-user takes another address.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { mailsTo, outbox, secretFor, secretIn } from '../../harness/mailbox.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';
import { tokenOf } from '../../harness/watched.ts';
import { openEvents } from '../realtime/event-client.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const request = (user: OwnUser, new_email: string, password = user.password) =>
  user.post(`${auth}/email-change/request`, { new_email, password });
const confirm = (user: OwnUser, token: string) => user.post(`${auth}/email-change/confirm`, { token });

describe('email-change', () => {
  it('takes the new address once its token comes back, and not before', async () => {
    const user = await ownUser(own);
    const next = freshEmail();
    expect(expectOk(await request(user, next.toUpperCase()))).toEqual({ ok: true });
    expect((await user.get(`${auth}/me`)).body.email).toBe(user.email);
    const token = await secretFor(next);
    expect(expectOk(await confirm(user, token))).toEqual({ ok: true });
    expect((await user.get(`${auth}/me`)).body).toMatchObject({ email: next, verified: true });
    expect((await confirm(user, token)).body.code).toBe('validation');
    const { password } = user;
    expectOk(await as().post(`${auth}/users/login`, { email: next, password }));
    expect((await as().post(`${auth}/users/login`, { email: user.email, password })).status).toBe(401);
  });

  it('email-change.stranger: is confirmed by nobody who has the mail alone, and the mail names the account', async () => {
    const [mallory, other] = [await ownUser(own), await ownUser(own)];
    const alice = freshEmail();
    expectOk(await request(mallory, alice));
    const token = await secretFor(alice);
    expect((await mailsTo(alice))[0]).toContain(mallory.email);
    expect((await as().post(`${auth}/email-change/confirm`, { token })).body.code).toBe('unauthorized');
    expect((await confirm(other, token)).body.code).toBe('validation');
    expect((await own.admin.post(`${auth}/email-change/confirm`, { token })).body.code).toBe('forbidden');
    for (const user of [mallory, other]) expect((await user.get(`${auth}/me`)).body.email).toBe(user.email);
    expectOk(await confirm(mallory, token));
  });

  it('tells the old address when it happened, without a token', async () => {
    const user = await ownUser(own);
    const next = freshEmail();
    expectOk(await request(user, next));
    const began = Date.now();
    expectOk(await confirm(user, await secretFor(next)));
    const [notice = ''] = await mailsTo(user.email);
    expect(notice).toContain('\nSubject: Your email address was changed\n');
    const [time = ''] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(notice) ?? [];
    expect(Date.parse(time)).toBeGreaterThanOrEqual(began);
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
    expect(secretIn(notice)).toBeUndefined();
    expect(notice).not.toMatch(/\{\{|https?:/);
    expect(notice).not.toContain(next);
  });

  it('sse.authz-live: takes the old address from streams that are open', async () => {
    const app = await own.app();
    const notes = `${app.path}/collections/notes`;
    const fields = [{ name: 'for', kind: 'email' }];
    expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id: 'notes', fields } }));
    const rule = { template: 'filter', filter: 'for = @request.auth.email' };
    expectOk(await app.admin.put(`${notes}/access_rules/list`, rule));
    const [user, next] = [await ownUser(own), freshEmail()];
    const client = await openEvents(Number(new URL(serverUrl()).port), {
      path: `${notes}/events`,
      token: tokenOf(user),
    });
    expectOk(await request(user, next));
    expectOk(await confirm(user, await secretFor(next)));
    const confirmed = performance.now();
    const write = async (email: string) => expectOk(await app.admin.post(`${notes}/records`, { for: email }));
    while (client.events.length === 0) {
      expect(performance.now() - confirmed).toBeLessThan(5_000);
      await write(next);
    }
    await write(user.email);
    const { id } = await write(next);
    while (!client.text.includes(id)) await client.count(client.events.length + 1);
    expect(client.text).not.toContain(user.email);
    client.socket.destroy();
  });

  it('asks for the password, and counts wrong ones', async () => {
    const user = await ownUser(own);
    for (let failures = 0; failures < 5; failures++) {
      expect((await request(user, freshEmail(), 'wrong password')).body.code).toBe('bad_credentials');
    }
    expect((await request(user, freshEmail())).body.code).toBe('too_many_requests');
  });

  it('auth.uniform: answers alike for an address that somebody has, who hears nothing of it', async () => {
    const [user, other] = [await ownUser(own), await ownUser(own)];
    const free = freshEmail();
    expect((await request(user, other.email)).body).toEqual({ ok: true });
    expect((await request(user, free)).body).toEqual({ ok: true });
    await secretFor(free);
    expect((await outbox()).filter((mail) => mail.includes(other.email))).toEqual([]);
  });

  it('is refused when somebody else has taken the address meanwhile', async () => {
    const user = await ownUser(own);
    const next = freshEmail();
    expectOk(await request(user, next));
    const token = await secretFor(next);
    await ownUser(own, next);
    expect((await confirm(user, token)).body.code).toBe('conflict');
    expect((await user.get(`${auth}/me`)).body.email).toBe(user.email);
  });

  it('makes worthless what was mailed to the old address, and challenges that were open', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const next = freshEmail();
    expectOk(await request(user, next));
    expectOk(await as().post(`${auth}/password-reset/request`, { email }));
    const reset = await secretFor(email);
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email, 2);
    const authenticator = await enrol(user, auth);
    const { challenge_id } = expectOk(await as().post(`${auth}/users/login`, { email, password }));
    expectOk(await confirm(user, await secretFor(next)));
    const responses = [
      await as().post(`${auth}/password-reset/confirm`, { token: reset, new_password: 'another password' }),
      await as().post(`${auth}/otp/login`, { email, code }),
      await as().post(`${auth}/users/login/totp`, { challenge_id, code: authenticator.code() }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([400, 401, 401]);
  });

  it.each([
    [
      'a new password',
      ({ email }: OwnUser) => as().post(`${auth}/password-reset/request`, { email }),
      { path: 'password-reset', new_password: 'another password' },
    ],
    ['a verified address', (user: OwnUser) => user.post(`${auth}/verify-email/request`), {
      path: 'verify-email',
    }],
  ])(
    'leaves no token for %s good that was just being made for the old one',
    async (_what, mail, redeeming) => {
      const user = await ownUser(own);
      expectOk(await mail(user));
      const token = await secretFor(user.email);
      const pool = await openDatabaseOf(own.id);
      // A change makes those tokens worthless that it sees, and not one of a request that has not ended yet.
      await pool.run((sql) => sql`update workspace.users set email = ${freshEmail()} where id = ${user.id}`)
        .finally(() => pool.end());
      const { path, ...more } = redeeming;
      expect((await as().post(`${auth}/${path}/confirm`, { token, ...more })).body.code).toBe('validation');
    },
  );

  it('makes earlier tokens worthless with every request', async () => {
    const user = await ownUser(own);
    const [first, second] = [freshEmail(), freshEmail()];
    expectOk(await request(user, first));
    const early = await secretFor(first);
    expectOk(await request(user, second));
    expect((await confirm(user, early)).body.code).toBe('validation');
    expectOk(await confirm(user, await secretFor(second)));
  });
});
