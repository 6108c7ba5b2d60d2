// End-users come in: register, login, refresh.
import { respondWithTokens } from '../auth/sessions/cookies.ts';
import { loginUser } from '../auth/login/login-user.ts';
import { wrongPassword } from '../auth/passwords/policy.ts';
import { refresh } from '../auth/sessions/refresh.ts';
import { registerUser } from '../auth/login/register.ts';
import { emailText, passwordText } from '../contract/credentials.ts';
import { route } from '../contract/route.ts';
import { described, object, optional, string } from '../contract/schema.ts';
import { hookErrors } from '../hooks/errors.ts';
import { userResponse } from '../auth/account/user-response.ts';
import { appOfLogin, onlyApp, respondToSignIn, signInResponses, userSession } from './sign-in-response.ts';

const registeringApp = described(
  optional(string({ max: 40 })),
  'The app whose hooks have a say in it. At the origin of an app always that one.',
);

/** Registers an end-user. */
export const userRegister = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/users/register',
  summary: 'Registers an end-user with email and password. The response has no tokens.',
  scope: 'anyone',
  key: 'never',
  body: object({ email: emailText, password: passwordText, app: registeringApp }),
  needsDisk: true,
  status: 201,
  response: userResponse,
  errors: ['conflict', 'quota_exceeded', ...hookErrors],
  bodyErrors: wrongPassword('password'),
  handle: (call) => {
    const { deps, target, body, origin, now } = call;
    return registerUser(deps, target.workspace, { ...body, app: appOfLogin(call), origin, now });
  },
});

/** Logs an end-user in by password. */
export const userLogin = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/users/login',
  summary: 'Logs an end-user in with a password.',
  scope: 'open',
  body: object({ email: string({ max: 320 }), password: passwordText, app: onlyApp }),
  ...signInResponses,
  errors: ['bad_credentials', 'forbidden'],
  handle: async (call) => {
    const { deps, target, body, origin, now } = call;
    return respondToSignIn(
      call,
      await loginUser(deps, target.workspace, { ...body, app: appOfLogin(call), origin, now }),
    );
  },
});

/** Exchanges a refresh token of an end-user. */
export const userRefresh = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/users/refresh',
  summary: 'Exchanges the refresh token of an end-user for a new pair of tokens.',
  scope: 'open',
  refusesForeignOrigin: true,
  body: object({ refresh_token: string({ max: 1_000 }) }),
  status: 200,
  response: userSession,
  errors: ['unauthorized'],
  handle: async (call) => {
    const { deps, params: { workspace }, body, origin, now } = call;
    const accepts = { workspace, kind: 'user' } as const;
    const { pair, who } = await refresh(deps, { token: body.refresh_token, accepts, origin, now });
    if (!('user' in who)) throw new Error('the session of a user is that of an admin');
    return respondWithTokens(call, pair, who);
  },
});
