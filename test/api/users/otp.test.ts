// Login by a mailed code.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';
import { claimsOf } from '../../harness/tokens.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const request = (email: string) => as().post(`${auth}/otp/request`, { email });
const login = (email: string, code: string, app?: string) =>
  as().post(`${auth}/otp/login`, { email, code, ...(app === undefined ? {} : { app }) });
const other = (code: string) => code === '000000' ? '000001' : '000000';

describe('otp', () => {
  it('makes a user without a password of an address that nobody has', async () => {
    const email = freshEmail();
    expect(expectOk(await request(email))).toEqual({ ok: true });
    const session = expectOk(await login(email.toUpperCase(), await secretFor(email)));
    expect(session.user).toMatchObject({ email, verified: true, has_password: false });
    expectOk(await as(session.access_token).get(`${auth}/me`));
    const byPassword = await as().post(`${auth}/users/login`, { email, password: 'any password' });
    expect(byPassword.body.code).toBe('bad_credentials');
  });

  it('auth.uniform: answers alike for an address that nobody has', async () => {
    const { email } = await ownUser(own);
    const [known, unknown] = [await request(email), await request(freshEmail())].map((response) => ({
      status: response.status,
      text: response.text,
      headers: [...response.headers.keys()].sort(),
    }));
    expect(known).toEqual(unknown);
    expect(known).toMatchObject({ status: 200, text: '{"ok":true}' });
  });

  it('takes a code once, and not a wrong one, which does not burn it', async () => {
    const email = freshEmail();
    expectOk(await request(email));
    const code = await secretFor(email);
    expect((await login(email, other(code))).body.code).toBe('bad_credentials');
    expectOk(await login(email, code));
    expect((await login(email, code)).body.code).toBe('bad_credentials');
  });

  it('takes a code with spaces, as people copy and write them', async () => {
    const email = freshEmail();
    expectOk(await request(email));
    const code = await secretFor(email);
    expectOk(await login(email, ` ${code.slice(0, 3)} ${code.slice(3)}\n`));
  });

  it('takes a code in the digits of another script', async () => {
    const email = freshEmail();
    expectOk(await request(email));
    const code = await secretFor(email);
    expect(code).toMatch(/^\d{8}$/);
    expectOk(await login(email, [...code].map((digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]).join('')));
  });

  it.each([['six', 6], ['ten', 10]])(
    'has %s digits where policy otp.digits says so',
    async (_word, digits) => {
      const place = await ownWorkspace();
      const bound = { kind: 'range', min: digits, max: digits };
      expectOk(await place.admin.put(`${place.path}/policies/otp.digits`, bound));
      const email = freshEmail();
      expectOk(await as().post(`${place.path}/auth/otp/request`, { email }));
      const code = await secretFor(email);
      expect(code).toHaveLength(digits);
      expectOk(await as().post(`${place.path}/auth/otp/login`, { email, code }));
    },
  );

  it('auth.guessing: is void after five wrong ones, also for a client that is not locked', async () => {
    const user = await ownUser(own);
    const signedIn = await as().post(`${auth}/users/login`, { email: user.email, password: user.password });
    const cookie = signedIn.headers.getSetCookie().find((each) => each.startsWith('svc_kc='));
    expectOk(await request(user.email));
    const code = await secretFor(user.email);
    for (let guess = 0; guess < 5; guess++) {
      expect((await login(user.email, other(code))).status).toBe(401);
    }
    const headers = { Cookie: cookie?.split(';')[0] ?? '' };
    const right = await as().post(`${auth}/otp/login`, { email: user.email, code }, headers);
    expect(right.body.code).toBe('bad_credentials');
  });

  it('auth.guessing: wrong ones of a network count for all addresses together', async () => {
    const { path } = await ownWorkspace();
    const guess = () => as().post(`${path}/auth/otp/login`, { email: freshEmail(), code: '00000000' });
    for (let times = 0; times < 20; times++) expect((await guess()).status).toBe(401);
    const refused = await guess();
    expect(refused.body.code).toBe('too_many_requests');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(500);
  });

  it('makes earlier codes worthless with every request', async () => {
    const email = freshEmail();
    expectOk(await request(email));
    const first = await secretFor(email);
    expectOk(await request(email));
    const second = await secretFor(email, 2);
    if (first !== second) expect((await login(email, first)).status).toBe(401);
    expectOk(await login(email, second));
  });

  it('auth.lockout: shares its failures with the password, in any spelling', async () => {
    const user = await ownUser(own);
    expectOk(await request(user.email));
    const code = await secretFor(user.email);
    for (const email of [user.email, user.email.toUpperCase(), user.email]) {
      expect((await login(email, other(code))).status).toBe(401);
    }
    for (const password of ['wrong one', 'wrong two']) {
      const failed = await as().post(`${auth}/users/login`, { email: user.email, password });
      expect(failed.status).toBe(401);
    }
    expect((await login(user.email, code)).body.code).toBe('too_many_requests');
  });

  it('is good for the address that it was mailed to, and for no other', async () => {
    const [mallory, victim] = [freshEmail(), freshEmail()];
    for (const email of [mallory, victim]) expectOk(await request(email));
    const [code, other] = [await secretFor(mallory), await secretFor(victim)];
    if (code !== other) expect((await login(victim, code)).body.code).toBe('bad_credentials');
    expect(expectOk(await login(mallory, code)).user.email).toBe(mallory);
  });

  it('stays good when others ask for theirs, and its owner for something else', async () => {
    const user = await ownUser(own);
    expectOk(await request(user.email));
    const code = await secretFor(user.email);
    expectOk(await request(freshEmail()));
    expectOk(await as().post(`${auth}/password-reset/request`, { email: user.email }));
    expectOk(await user.post(`${auth}/verify-email/request`));
    expectOk(await login(user.email, code));
  });

  it('otp.single-use-race: lets one of 50 redemptions at once win', async () => {
    const email = freshEmail();
    expectOk(await request(email));
    const code = await secretFor(email);
    const responses = await Promise.all(Array.from({ length: 50 }, () => login(email, code)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(responses.map(({ status }) => status)).difference(new Set([200, 401, 429])).size).toBe(0);
  });

  it('oauth.prehijack: leaves nothing to whoever registered the address before its owner came', async () => {
    const attacker = await ownUser(own);
    expectOk(await request(attacker.email));
    const session = expectOk(await login(attacker.email, await secretFor(attacker.email)));
    expect(session.user).toMatchObject({ id: attacker.id, verified: true, has_password: false });
    expect((await attacker.get(`${auth}/me`)).status).toBe(401);
    const refreshed = await as().post(`${auth}/users/refresh`, { refresh_token: attacker.refreshToken });
    expect(refreshed.status).toBe(401);
    const { email, password } = attacker;
    expect((await as().post(`${auth}/users/login`, { email, password })).status).toBe(401);
    expectOk(await as(session.access_token).get(`${auth}/me`));
  });

  it('oauth.prehijack: leaves no change of address to whoever registered it, nor a new password', async () => {
    const attacker = await ownUser(own);
    const { email, password } = attacker;
    const elsewhere = freshEmail();
    expectOk(await attacker.post(`${auth}/email-change/request`, { new_email: elsewhere, password }));
    expectOk(await attacker.post(`${auth}/verify-email/request`));
    const [token, verification] = [await secretFor(elsewhere), await secretFor(email)];
    expectOk(await request(email));
    const session = expectOk(await login(email, await secretFor(email, 2)));
    for (
      const [path, text, code] of [
        ['email-change', token, 'unauthorized'],
        ['verify-email', verification, 'validation'],
      ]
    ) {
      expect((await as().post(`${auth}/${path}/confirm`, { token: text })).body.code).toBe(code);
    }
    expect((await as(session.access_token).get(`${auth}/me`)).body.email).toBe(email);
  });

  it('spares the password of a user whose address was verified', async () => {
    const user = await ownUser(own);
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    expectOk(await request(user.email));
    const session = expectOk(await login(user.email, await secretFor(user.email)));
    expect(session.user.has_password).toBe(true);
    expectOk(await user.get(`${auth}/me`));
  });

  it('answers tokens for one app, and keeps the code when there is no such app', async () => {
    const app = await own.app();
    const email = freshEmail();
    expectOk(await request(email));
    const code = await secretFor(email);
    expect((await login(email, code, 'ghost')).body.code).toBe('forbidden');
    expect(claimsOf(expectOk(await login(email, code, app.id)).access_token)).toMatchObject({ app: app.id });
  });
});
