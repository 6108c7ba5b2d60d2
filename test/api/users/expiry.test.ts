// Tokens, codes and challenges end by themselves; none is stored as it is mailed.
import { afterAll, describe, expect, it } from 'vitest';
import { as, expectOk, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { mailsTo, secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const own = await ownWorkspace();
const auth = `${own.path}/auth`;
const pool = await openDatabaseOf(own.id);
afterAll(() => pool.end());

/** How many seconds the newest token of a purpose has left. */
async function life(purpose: string): Promise<number> {
  const [row] = await pool.run((sql) =>
    sql<{ seconds: number }[]>`
      select extract(epoch from expires_at - created_at)::int as seconds from workspace.one_time_tokens
      where purpose = ${purpose} order by id desc limit 1`
  );
  return row?.seconds ?? 0;
}

const expireAll = () =>
  pool.run((sql) => sql`update workspace.one_time_tokens set expires_at = now() - interval '1 second'`);

describe('what has expired', () => {
  it('is refused: a token for a new password, after an hour', async () => {
    const { email } = await ownUser(own);
    expectOk(await as().post(`${auth}/password-reset/request`, { email }));
    const token = await secretFor(email);
    expect(await life('password_reset')).toBe(3_600);
    await expireAll();
    const response = await as().post(`${auth}/password-reset/confirm`, {
      token,
      new_password: 'another password',
    });
    expect(response.body.code).toBe('validation');
  });

  it('is refused: a token for an address, after an hour', async () => {
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/verify-email/request`));
    const token = await secretFor(user.email);
    expect(await life('verify_email')).toBe(3_600);
    await expireAll();
    expect((await as().post(`${auth}/verify-email/confirm`, { token })).body.code).toBe('validation');
  });

  it('is refused: a code, after ten minutes', async () => {
    const { email } = await ownUser(own);
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email);
    expect(await life('otp')).toBe(600);
    await expireAll();
    expect((await as().post(`${auth}/otp/login`, { email, code })).body.code).toBe('bad_credentials');
  });

  it('is refused: a code, as soon as policy says, which its mail says too', async () => {
    const email = freshEmail();
    const policy = `${own.path}/policies/otp.ttl_sec`;
    expectOk(await own.admin.put(policy, { kind: 'range', min: 60, max: 120 }));
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    expectOk(await own.admin.delete(policy));
    expect(await life('otp')).toBe(120);
    expect((await mailsTo(email))[0]).toContain('for 2 minutes');
  });

  it('challenge.bound: is refused: a challenge, after five minutes', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const { email, password } = user;
    const { challenge_id } = expectOk(await as().post(`${auth}/users/login`, { email, password }));
    expect(await life('mfa')).toBe(300);
    await expireAll();
    const body = { challenge_id, code: authenticator.code() };
    expect((await as().post(`${auth}/users/login/totp`, body)).body.code).toBe('bad_credentials');
  });
});

describe('a session', () => {
  it('ends with its refresh token, after thirty days', async () => {
    const user = await ownUser(own);
    const [row] = await pool.run((sql) =>
      sql<{ days: number }[]>`
        update workspace.sessions set expires_at = now() - interval '1 second' where principal_id = ${user.id}
        returning extract(epoch from old.expires_at - old.created_at)::int / 86400 as days`
    );
    expect(row?.days).toBe(30);
    const response = await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken });
    expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
    expect(expectOk(await user.get(`${auth}/sessions`)).items).toEqual([]);
    // Nobody has used it twice.
    const query = `action=token_reuse&actor=${encodeURIComponent(user.email)}`;
    expect(expectOk(await own.admin.get(`${own.path}/audit?${query}`)).items).toEqual([]);
  });

  it('that has expired makes room when another one is refreshed', async () => {
    const [gone, staying] = [await ownUser(own), await ownUser(own)];
    await pool.run((sql) =>
      sql`update workspace.sessions set expires_at = now() - interval '1 minute' where principal_id = ${gone.id}`
    );
    expectOk(await as().post(`${auth}/users/refresh`, { refresh_token: staying.refreshToken }));
    const left = await pool.run((sql) =>
      sql<{ principal_id: string }[]>`select principal_id from workspace.sessions`
    );
    expect(left.filter(({ principal_id }) => principal_id === gone.id)).toEqual([]);
    expect(left.filter(({ principal_id }) => principal_id === staying.id)).toHaveLength(2);
  });

  it('is good for nothing where the app that it is for is not there', async () => {
    const { id, refreshToken: refresh_token } = await ownUser(own);
    await pool.run((sql) => sql`update workspace.sessions set app = 'ghost' where principal_id = ${id}`);
    const response = await as().post(`${auth}/users/refresh`, { refresh_token });
    expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
  });
});

describe('a session, once policy makes sessions shorter,', () => {
  it.each([[3_500, 200], [3_601, 401]])(
    'that is %i s old is answered %i after an hour',
    async (age, status) => {
      const other = await ownWorkspace();
      const user = await ownUser(other);
      const database = await openDatabaseOf(other.id);
      await database.run((sql) =>
        sql`update workspace.sessions set created_at = created_at - make_interval(secs => ${age})`
      ).finally(() => database.end());
      const spec = { kind: 'range', min: 1, max: 3_600 };
      expectOk(await other.admin.put(`${other.path}/policies/tokens.refresh_ttl_sec`, spec));
      const response = await as().post(`${other.path}/auth/users/refresh`, {
        refresh_token: user.refreshToken,
      });
      expect(response.status).toBe(status);
    },
  );

  it('is listed with the end that it has by now, that of its app, and no more after it', async () => {
    const other = await ownWorkspace();
    const [user, app] = [await ownUser(other), await other.app()];
    const { email, password } = user;
    expectOk(await as().post(`${other.path}/auth/users/login`, { email, password, app: app.id }));
    const limit = async (path: string, max: number) =>
      expectOk(
        await other.admin.put(`${path}/policies/tokens.refresh_ttl_sec`, { kind: 'range', min: 1, max }),
      );
    await limit(other.path, 3_600);
    await limit(app.path, 600);
    const lives = async (): Promise<[string | null, number][]> => {
      const { items, total_items } = expectOk(await user.get(`${other.path}/auth/sessions`));
      expect(items).toHaveLength(total_items);
      return items.map((item: { app: string | null; last_used_at: string; expires_at: string }) => [
        item.app,
        (Date.parse(item.expires_at) - Date.parse(item.last_used_at)) / 1_000,
      ]);
    };
    expect(await lives()).toEqual([[null, 3_600], [app.id, 600]]);
    const database = await openDatabaseOf(other.id);
    await database.run((sql) =>
      sql`update workspace.sessions set created_at = created_at - make_interval(secs => 3600) where app is null`
    ).finally(() => database.end());
    expect(await lives()).toEqual([[app.id, 600]]);
  });
});

describe('auth.lockout: failures', () => {
  it.each([[290, 429], [301, 200]])('that are %i s old: the fifth is answered %i', async (age, status) => {
    const { email, password } = await ownUser(own);
    const login = (text: string) => as().post(`${auth}/users/login`, { email, password: text });
    for (let failures = 0; failures < 4; failures++) expect((await login('wrong one')).status).toBe(401);
    await pool.run((sql) =>
      sql`
        update workspace.lockouts set failed_at = array(
          select failure - make_interval(secs => ${age}) from unnest(failed_at) failure)
        where subject = ${`user:${email}\nloopback`}`
    );
    expect((await login('wrong one')).status).toBe(401);
    expect((await login(password)).status).toBe(status);
  });
});

describe('the database', () => {
  it('holds neither codes, tokens, recovery codes nor the secret of an authenticator', async () => {
    const user = await ownUser(own);
    const { secret } = expectOk(await user.post(`${auth}/totp/enroll`));
    const { recoveryCodes } = await enrol(user, auth);
    expectOk(await as().post(`${auth}/otp/request`, { email: user.email }));
    const code = await secretFor(user.email);
    const rows = await pool.run((sql) =>
      sql<{ bytes: Buffer }[]>`
        select hash as bytes from workspace.one_time_tokens
        union all select hash from workspace.recovery_codes
        union all select totp_sealed from workspace.users where totp_sealed is not null`
    );
    expect(rows.length).toBeGreaterThan(11);
    const plain = [secret, code, ...recoveryCodes, ...recoveryCodes.map((each) => each.replaceAll('-', ''))];
    for (const { bytes } of rows) expect(plain.filter((each) => bytes.includes(each))).toEqual([]);
  });
});
