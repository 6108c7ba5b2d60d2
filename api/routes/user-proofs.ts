// Proofs by mail of an end-user: verify an address, reset a password, accept an invitation, sign in with a code.
import { acceptInvitation } from '../auth/email/invite.ts';
import { loginByOtp, requestOtp } from '../auth/email/otp.ts';
import { confirmReset, requestReset } from '../auth/email/password-reset.ts';
import { wrongPassword } from '../auth/passwords/policy.ts';
import { confirmVerification, requestVerification } from '../auth/email/verify-email.ts';
import { emailText, passwordText } from '../contract/credentials.ts';
import { route } from '../contract/route.ts';
import { hookErrors } from '../hooks/errors.ts';
import { object, okResponse, string } from '../contract/schema.ts';
import { userResponse } from '../auth/account/user-response.ts';
import { appOfLogin, onlyApp, respondToSignIn, signInResponses } from './sign-in-response.ts';

const token = string({ max: 200 });

/** Mails a token to the user's own address. */
export const verifyEmailRequest = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/verify-email/request',
  summary: 'Mails the calling end-user a token that proves that the address is theirs.',
  scope: 'user',
  key: 'never',
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, principal, origin, now }) => {
    await requestVerification(deps, target.workspace, { principal, origin, now });
    return { ok: true };
  },
});

/** Verifies the address, by that token. */
export const verifyEmailConfirm = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/verify-email/confirm',
  summary:
    'Accepts a mailed token and marks the address as verified. Without a token of the user, the first time ends its password, second factor and sessions.',
  scope: 'anyone',
  key: 'never',
  body: object({ token }),
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, body, principal, origin, now }) => {
    await confirmVerification(deps, target.workspace, { ...body, principal, origin, now });
    return { ok: true };
  },
});

/** Mails a token to an address that may be a user's. */
export const passwordResetRequest = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/password-reset/request',
  summary:
    'Mails a token for a new password if the address belongs to an end-user. The response is the same in both cases.',
  scope: 'anyone',
  key: 'never',
  body: object({ email: emailText }),
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, body, origin, now }) => {
    await requestReset(deps, target.workspace, { ...body, ip: origin.ip, now });
    return { ok: true };
  },
});

/** Sets a new password, by that token. */
export const passwordResetConfirm = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/password-reset/confirm',
  summary: 'Accepts a mailed token, sets a new password, and ends every session of the end-user.',
  scope: 'anyone',
  key: 'never',
  body: object({ token, new_password: passwordText }),
  status: 200,
  response: okResponse,
  bodyErrors: wrongPassword('new_password'),
  handle: async ({ deps, target, body, origin, now }) => {
    const { token, new_password: password } = body;
    await confirmReset(deps, target.workspace, { token, password, origin, now });
    return { ok: true };
  },
});

/** Makes an end-user, by the token of an invitation. */
export const inviteConfirm = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/invite/confirm',
  summary: 'Accepts the mailed token of an invitation, and creates an end-user with this password.',
  scope: 'anyone',
  key: 'never',
  body: object({ token, new_password: passwordText }),
  needsDisk: true,
  status: 201,
  response: userResponse,
  errors: ['conflict', 'quota_exceeded'],
  bodyErrors: wrongPassword('new_password'),
  handle: ({ deps, target, body, origin, now }) => {
    const { token, new_password: password } = body;
    return acceptInvitation(deps, target.workspace, { token, password, origin, now });
  },
});

/** Mails a code. */
export const otpRequest = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/otp/request',
  summary: 'Mails a login code.',
  scope: 'anyone',
  key: 'never',
  body: object({ email: emailText }),
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, body, origin, now }) => {
    await requestOtp(deps, target.workspace, { ...body, ip: origin.ip, now });
    return { ok: true };
  },
});

/** Logs in with that code. */
export const otpLogin = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/otp/login',
  summary: 'Logs in with a mailed code. If nobody has the address, creates an end-user without a password.',
  scope: 'anyone',
  key: 'never',
  body: object({
    email: emailText,
    code: string({ max: 100 }),
    app: onlyApp,
  }),
  ...signInResponses,
  errors: ['bad_credentials', 'quota_exceeded', ...hookErrors],
  handle: async (call) => {
    const { deps, target, body, origin, now } = call;
    return respondToSignIn(
      call,
      await loginByOtp(deps, target.workspace, { ...body, app: appOfLogin(call), origin, now }),
    );
  },
});
