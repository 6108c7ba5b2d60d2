// The second factor of end-users.
import { confirmTotp, disableTotp, enrolTotp } from '../auth/totp/totp-enrol.ts';
import { loginByTotp } from '../auth/login/login-totp.ts';
import { route } from '../contract/route.ts';
import { described, done, list, object, text, yes } from '../contract/schema.ts';
import { unenrolUser } from '../users/unenrol.ts';
import { answerSignIn, signInAnswers } from './sign-in-response.ts';

const code = text({ max: 100 });

/** Takes the second step of a login. */
export const totpLogin = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/users/login/totp',
  summary: 'Completes a login with a code of the authenticator, or with a recovery code.',
  scope: 'open',
  body: object({ challenge_id: text({ max: 200 }), code }),
  ...signInAnswers,
  errors: ['bad_credentials', 'forbidden'],
  handle: async (call) => {
    const { deps, target, body, origin, now } = call;
    const { challenge_id: challengeId, code } = body;
    return answerSignIn(call, await loginByTotp(deps, target.workspace, { challengeId, code, origin, now }));
  },
});

/** Makes a secret for an authenticator. */
export const totpEnrol = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/totp/enroll',
  summary: 'Answers a secret for the end-user’s authenticator; it counts once a code confirms it.',
  scope: 'user',
  status: 200,
  response: object({
    secret: text(),
    qr_url: described(text(), 'An otpauth URI, to be shown as a QR code.'),
  }),
  errors: ['conflict'],
  handle: ({ deps, target, principal }) => enrolTotp(deps, target.workspace, principal),
});

/** Turns the second factor on, by its first code. */
export const totpConfirm = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/totp/confirm',
  summary: 'Makes the second factor active, and answers recovery codes this once.',
  scope: 'user',
  body: object({ code }),
  status: 200,
  response: object({
    ok: yes(),
    recovery_codes: described(list(text()), 'Each works once, in place of a code.'),
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
  summary: 'Turns the end-user’s second factor off.',
  scope: 'user',
  body: object({ code }),
  status: 200,
  response: done,
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
  summary: 'Takes the second factor of an end-user away, and ends all its sessions.',
  scope: 'workspace_admin',
  status: 200,
  response: done,
  handle: async ({ deps, params, target, principal, origin, now }) => {
    await unenrolUser(deps, { workspace: target.workspace, id: params.id }, { principal, origin, now });
    return { ok: true };
  },
});
