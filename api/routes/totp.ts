// The second factor of end-users.
import { confirmTotp, disableTotp, enrolTotp } from '../auth/totp/totp-enrol.ts';
import { loginByTotp } from '../auth/login/login-totp.ts';
import { route } from '../contract/route.ts';
import { array, described, object, okResponse, string, yes } from '../contract/schema.ts';
import { unenrolUser } from '../users/unenrol.ts';
import { respondToSignIn, signInResponses } from './sign-in-response.ts';

const code = string({ max: 100 });

/** Takes the second step of a login. */
export const totpLogin = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/users/login/totp',
  summary: 'Completes a login with a code of the authenticator, or with a recovery code.',
  scope: 'open',
  body: object({ challenge_id: string({ max: 200 }), code }),
  ...signInResponses,
  errors: ['bad_credentials', 'forbidden'],
  handle: async (call) => {
    const { deps, target, body, origin, now } = call;
    const { challenge_id: challengeId, code } = body;
    return respondToSignIn(
      call,
      await loginByTotp(deps, target.workspace, { challengeId, code, origin, now }),
    );
  },
});

/** Makes a secret for an authenticator. */
export const totpEnrol = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/totp/enroll',
  summary: 'Returns a secret for the authenticator of the calling end-user. A first code must confirm it.',
  scope: 'user',
  key: 'never',
  status: 200,
  response: object({
    secret: string(),
    qr_url: described(string(), 'An otpauth URI. Show it as a QR code.'),
  }),
  errors: ['conflict'],
  handle: ({ deps, target, principal }) => enrolTotp(deps, target.workspace, principal),
});

/** Turns the second factor on, by its first code. */
export const totpConfirm = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/totp/confirm',
  summary: 'Turns the second factor on and returns the recovery codes, which are never returned again.',
  scope: 'user',
  key: 'never',
  body: object({ code }),
  status: 200,
  response: object({
    ok: yes(),
    recovery_codes: described(array(string()), 'Each works once, in place of a code.'),
  }),
  errors: ['bad_credentials', 'conflict'],
  handle: async ({ deps, target, principal, body, origin, now }) => {
    const codes = await confirmTotp(deps, target.workspace, { principal, ...body, origin, now });
    return { ok: true, recovery_codes: codes };
  },
});

/** Turns the second factor off. */
export const totpDisable = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/totp/disable',
  summary: 'Turns the second factor of the calling end-user off.',
  scope: 'user',
  key: 'never',
  body: object({ code }),
  status: 200,
  response: okResponse,
  errors: ['bad_credentials', 'conflict'],
  handle: async ({ deps, target, principal, body, origin, now }) => {
    await disableTotp(deps, target.workspace, { principal, ...body, origin, now });
    return { ok: true };
  },
});

/** Takes a user's second factor away, as an admin. */
export const totpRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/users/:id/totp',
  summary: 'Turns the second factor of an end-user off and ends all sessions of that user.',
  scope: 'workspace_admin',
  key: 'never',
  status: 200,
  response: okResponse,
  handle: async ({ deps, params, target, principal, origin, now }) => {
    await unenrolUser(deps, { workspace: target.workspace, id: params.id }, { principal, origin, now });
    return { ok: true };
  },
});
