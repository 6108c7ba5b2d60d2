// What the auth endpoints make of values of other types: nothing.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { ownUser } from '../../harness/users.ts';

const email = 'nobody@example.com';
const text = 'a text of some length';

/** What has a body, and one that is only wrong in what it says. */
const anonymous: [path: string, body: Record<string, string>][] = [
  ['/_/setup', { password: text }],
  ['/_/auth/admin/login', { username: 'nobody', password: text }],
  ['/_/auth/refresh', { refresh_token: text }],
  ['/_/auth/logout', { refresh_token: text }],
  ['auth/admin/login', { email, password: text, app: 'shop' }],
  ['auth/refresh', { refresh_token: text }],
  ['auth/users/register', { email, password: text }],
  ['auth/users/login', { email, password: text, app: 'shop' }],
  ['auth/users/login/totp', { challenge_id: text, code: '123456' }],
  ['auth/users/refresh', { refresh_token: text }],
  ['auth/verify-email/confirm', { token: text }],
  ['auth/password-reset/request', { email }],
  ['auth/password-reset/confirm', { token: text, new_password: text }],
  ['auth/otp/request', { email }],
  ['auth/otp/login', { email, code: '123456', app: 'shop' }],
  ['auth/oauth/google/callback', { code: text, state: text, redirect_uri: 'https://example.com/' }],
];
const ofUsers: typeof anonymous = [
  ['auth/totp/confirm', { code: '123456' }],
  ['auth/totp/disable', { code: '123456' }],
  ['auth/email-change/request', { new_email: email, password: text }],
  ['auth/email-change/confirm', { token: text }],
];

const strangers = [{}, { $ne: null }, { length: 6 }, [], [text], ['123456'], 123456, true];

let own: OwnWorkspace;
let user: Caller;

beforeAll(async () => {
  own = await ownWorkspace();
  user = await ownUser(own);
});

async function refusals(caller: Caller, path: string, body: Record<string, string>): Promise<unknown[]> {
  const url = path.startsWith('/') ? path : `${own.path}/${path}`;
  const responses: unknown[] = [];
  for (const member of Object.keys(body)) {
    for (const stranger of strangers) {
      const { status, body: { code, message } } = await caller.post(url, { ...body, [member]: stranger });
      responses.push([member, stranger, status, code, message]);
    }
  }
  return responses;
}

function expected(body: Record<string, string>): unknown[] {
  return Object.keys(body).flatMap((member) =>
    strangers.map((stranger) => [member, stranger, 400, 'validation', `${member}: must be a string`])
  );
}

describe('record.strict-types', () => {
  it.each(anonymous)('record.strict-types: %s takes nothing but texts', async (path, body) => {
    expect(await refusals(as(), path, body)).toEqual(expected(body));
  });

  it.each(ofUsers)('record.strict-types: %s takes nothing but texts', async (path, body) => {
    expect(await refusals(user, path, body)).toEqual(expected(body));
  });
});
