// Garbage at the ways in: no text makes a server fail, and none but the right code is taken.
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { numbersFrom } from '../../harness/random-numbers.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const rounds = 40;
const number = numbersFrom(32);
const parts = [
  '0',
  '9',
  '٣',
  '３',
  '𝟗',
  '½',
  '²',
  'Ⅷ',
  '四',
  ' ',
  '\t',
  '\n',
  '\r',
  '\u00a0',
  '\u2007',
  '\u202f',
  '\ufeff',
  '\u200b',
  '\0',
  '\u0007',
  '\ud800',
  '\udfff',
  '\u202e',
  '-',
  '.',
  '+',
  'e',
  'a',
  'é',
  'e\u0301',
  '😀',
  '%00',
  "'",
  '"',
  '\\',
  '@',
  'x@y',
  '{{',
  '$1',
  '../',
  '__proto__',
  '𐒠',
  '\u{10ffff}',
];
let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

/** A text of up to 24 parts, or now and then a long one. */
function garbage(): string {
  const length = number(20) === 0 ? 400 : 1 + number(24);
  return Array.from({ length }, () => parts[number(parts.length)]).join('');
}

const ways: Record<string, (text: () => string) => object> = {
  'users/login': (text) => ({ email: text(), password: text() }),
  'users/register': (text) => ({ email: `${text()}@example.com`, password: text() }),
  'users/refresh': (text) => ({ refresh_token: text() }),
  'users/login/totp': (text) => ({ challenge_id: text(), code: text() }),
  'admin/login': (text) => ({ email: text(), password: text() }),
  'refresh': (text) => ({ refresh_token: `rfsh_${text()}` }),
  'otp/request': (text) => ({ email: text() }),
  'otp/login': (text) => ({ email: `${text()}@example.com`, code: text() }),
  'verify-email/confirm': (text) => ({ token: text() }),
  'password-reset/request': (text) => ({ email: text() }),
  'password-reset/confirm': (text) => ({ token: text(), new_password: `${text()}12345678` }),
  'invite/confirm': (text) => ({ token: text(), password: `${text()}12345678` }),
  'totp/confirm': (text) => ({ code: text() }),
  'totp/disable': (text) => ({ code: text() }),
  'oauth/peer/callback': (text) => ({ code: text(), state: text() }),
};

it.each(Object.entries(ways))(
  'auth.garbage: %s never answers with an error of the server',
  async (way, body) => {
    const caller = way.startsWith('totp/') ? await ownUser(own) : as();
    if (way === 'totp/confirm') expectOk(await caller.post(`${own.path}/auth/totp/enroll`));
    for (let round = 0; round < rounds; round++) {
      const sent = body(garbage);
      const response = await caller.post(`${own.path}/auth/${way}`, sent);
      expect([JSON.stringify(sent), response.status < 500]).toEqual([JSON.stringify(sent), true]);
    }
  },
);

it('auth.garbage: nor does the refresh of a master or an admin', async () => {
  for (let round = 0; round < rounds; round++) {
    const sent = { refresh_token: garbage() };
    const { status } = await as().post('/_/auth/refresh', sent);
    expect([JSON.stringify(sent), status < 500]).toEqual([JSON.stringify(sent), true]);
  }
});

it('auth.garbage: a code that is none is refused like a wrong one, and counts', async () => {
  for (let round = 0; round < rounds / 8; round++) {
    // One of its own: wrong codes of a client count for all users of a workspace together.
    const { path, ...place } = await ownWorkspace();
    const user = await ownUser({ path, ...place });
    const { email, password } = user;
    await enrol(user, `${path}/auth`);
    const statuses: number[] = [];
    for (let guess = 0; guess < 6; guess++) {
      const login = await as().post(`${path}/auth/users/login`, { email, password });
      if (login.status === 429) {
        statuses.push(429);
        continue;
      }
      const { challenge_id } = expectOk(login);
      const code = `9${garbage().slice(0, 20)}x`.replaceAll(/[\0\ud800-\udfff]/g, '');
      const response = await as().post(`${path}/auth/users/login/totp`, { challenge_id, code });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  }
});

it('auth.garbage: and a mailed code is void after five of them', async () => {
  const [{ path }, email] = [await ownWorkspace(), freshEmail()];
  expectOk(await as().post(`${path}/auth/otp/request`, { email }));
  const code = await secretFor(email);
  for (let guess = 0; guess < 5; guess++) {
    const wrong = `${garbage().slice(0, 20)}x`.replaceAll(/[\0\ud800-\udfff]/g, '');
    expect((await as().post(`${path}/auth/otp/login`, { email, code: wrong })).status).toBe(401);
  }
  expect((await as().post(`${path}/auth/otp/login`, { email, code })).status).toBe(429);
});
