// The client's session: every way to sign in, and what happens when tokens end.
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { type AuthEvent, BusyError, createClient, UnauthorizedError } from '../../../api/client/main.ts';
import { expectOk, type OwnWorkspace, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail } from '../../harness/users.ts';

const password = 'correct horse battery staple';

async function place(): Promise<{ own: OwnWorkspace; workspace: string; app: string }> {
  const own = await ownWorkspace();
  return { own, workspace: own.id, app: (await own.app()).id };
}

/** A client, and the requests that it has sent. */
function watched(options: { workspace: string; app: string }) {
  const sent: string[] = [];
  const client = createClient(serverUrl(), {
    ...options,
    fetch: async (input, init) => {
      sent.push(String(input).replace(/^.*\/apps?\//, '').replace(/^.*\/auth\//, ''));
      return await patientFetch(input, init);
    },
  });
  return { client, sent };
}

/** Logins wait for each other on a busy machine. */
async function patientFetch(...sent: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    const response = await fetch(...sent);
    if (response.status !== 503) return response;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function signedIn() {
  const at = await place();
  const made = watched(at);
  const email = freshEmail();
  await made.client.auth.register({ email, password });
  await made.client.auth.signIn({ email, password });
  return { ...made, ...at, email };
}

describe('signing in', () => {
  it('works with a password, and says so to listeners', async () => {
    const { workspace, app } = await place();
    const { client } = watched({ workspace, app });
    const email = freshEmail();
    const events: [AuthEvent, string | undefined][] = [];
    const stop = client.auth.onAuthChange((event, session) => events.push([event, session?.user.email]));
    expect(await client.auth.register({ email, password })).toMatchObject({ email, verified: false });
    expect(client.auth.user).toBeUndefined();
    expect(await client.auth.signIn({ email, password })).toMatchObject({ user: { email } });
    expect(client.auth.user?.email).toBe(email);
    expect(await client.auth.me()).toMatchObject({ email });
    await client.auth.signOut();
    expect(client.auth.user).toBeUndefined();
    stop();
    await client.auth.signIn({ email, password });
    expect(events).toEqual([['signed_in', email], ['signed_out', undefined]]);
    await expect(client.auth.signIn({ email, password: 'wrong one' })).rejects.toBeInstanceOf(
      UnauthorizedError,
    );
  });

  it('works with a mailed code, and with a second factor', async () => {
    const { workspace, app } = await place();
    const { client } = watched({ workspace, app });
    const email = freshEmail();
    await client.auth.requestCode(email);
    await client.auth.signInWithCode({ email, code: await secretFor(email) });
    const { secret } = await client.auth.post<{ secret: string }>('totp/enroll');
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const { recovery_codes } = await client.auth.post<{ recovery_codes: string[] }>('totp/confirm', {
      code: totp.generate(),
    });
    await client.auth.signOut();
    await client.auth.requestCode(email);
    const code = await secretFor(email, 2);
    const { challenge } = await client.auth.signInWithCode({ email, code });
    expect(client.auth.user).toBeUndefined();
    expect(await challenge?.complete(recovery_codes[0] ?? '')).toMatchObject({ email, totp_enabled: true });
    expect(client.auth.user?.email).toBe(email);
  });

  it('goes on with a session from elsewhere, in a storage of the caller', async () => {
    const { client, workspace, app, email } = await signedIn();
    const texts = new Map<string, string>();
    const storage = {
      getItem: (key: string) => Promise.resolve(texts.get(key) ?? null),
      setItem: (key: string, text: string) => Promise.resolve(void texts.set(key, text)),
      removeItem: (key: string) => Promise.resolve(void texts.delete(key)),
    };
    const { session } = client.auth;
    if (session === undefined) throw new Error('nobody is signed in');
    const first = createClient(serverUrl(), { workspace, app, storage });
    await first.auth.restore(session);
    const later = createClient(serverUrl(), { workspace, app, storage });
    expect(await later.auth.me()).toMatchObject({ email });
    await later.auth.signOut();
    expect(texts.size).toBe(0);
  });
});

describe('an access token that is over', () => {
  it('is renewed once for all requests in flight, which are sent again', async () => {
    const { client, sent } = await signedIn();
    const { session } = client.auth;
    if (session === undefined) throw new Error('nobody is signed in');
    await client.auth.restore({ ...session, access_token: `${session.access_token.slice(0, -8)}AAAAAAAA` });
    sent.length = 0;
    const results = await Promise.all(Array.from({ length: 10 }, () => client.auth.me()));
    expect(results).toHaveLength(10);
    expect(sent.filter((path) => path === 'users/refresh')).toHaveLength(1);
    expect(sent.filter((path) => path === 'me').length).toBeLessThanOrEqual(20);
  });

  it('is renewed before it is over, without a refusal', async () => {
    const { client, sent } = await signedIn();
    const { session } = client.auth;
    if (session === undefined) throw new Error('nobody is signed in');
    await client.auth.restore({ ...session, expires_at: Date.now() + 5_000 });
    sent.length = 0;
    await client.auth.me();
    expect(sent).toEqual(['users/refresh', 'me']);
  });

  it('ends the session when the server refuses to renew it', async () => {
    const { client, own, sent } = await signedIn();
    const events: AuthEvent[] = [];
    client.auth.onAuthChange((event) => events.push(event));
    expectOk(await own.admin.delete(`${own.path}/users/${client.auth.user?.id}`));
    sent.length = 0;
    await expect(client.auth.me()).rejects.toBeInstanceOf(UnauthorizedError);
    expect(events).toEqual(['signed_out']);
    expect(sent).toEqual(['me', 'users/refresh']);
    expect(await client.auth.refresh()).toBe(false);
  });

  it('ends no session because the server is busy or away', async () => {
    const { client: before, workspace, app } = await signedIn();
    const { session } = before.auth;
    if (session === undefined) throw new Error('nobody is signed in');
    let refused = 0;
    const client = createClient(serverUrl(), {
      workspace,
      app,
      fetch: async (input, init) => {
        if (!String(input).endsWith('/refresh') || refused++ > 1) return await fetch(input, init);
        if (refused === 1) throw new TypeError('no network');
        return Response.json({ code: 'unavailable', message: 'later' }, {
          status: 503,
          headers: { 'retry-after': '7' },
        });
      },
    });
    await client.auth.restore({ ...session, expires_at: 1 });
    await expect(client.auth.me()).rejects.toMatchObject({ name: 'ConnectionError' });
    const busy = await client.auth.me().catch((error: unknown) => error);
    expect(busy).toBeInstanceOf(BusyError);
    expect(busy).toMatchObject({ retryAfter: 7 });
    expect(await client.auth.me()).toMatchObject({ id: session.user.id });
  });
});
