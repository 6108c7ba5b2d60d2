// The response of every sign-in of an end-user: tokens, or 202 and a challenge for the second factor.
import { respondWithTokens } from '../auth/sessions/cookies.ts';
import type { SignInOutcome } from '../auth/login/sign-in-user.ts';
import type { Deps } from '../deps.ts';
import type { AppHost } from '../http/hosts/hosts.ts';
import type { ResponseOverrides } from '../contract/route.ts';
import { described, object, optional, type Schema, string, type ValueOf, yes } from '../contract/schema.ts';
import { userResponse } from '../auth/account/user-response.ts';

/** The schema of tokens and their user. */
export const userSession = object({ access_token: string(), refresh_token: string(), user: userResponse });
const challenge = object({ mfa_required: yes(), challenge_id: string() });

type SignInResponse = ValueOf<typeof userSession> | ValueOf<typeof challenge>;

/** Members of a route that logs an end-user in. */
export const signInResponses: {
  status: 200;
  response: Schema<SignInResponse>;
  otherResponses: Record<number, Schema<unknown>>;
} = { status: 200, response: userSession, otherResponses: { 202: challenge } };

/** The app that the tokens of a login are limited to. */
export const onlyApp = described(optional(string({ max: 40 })), 'Makes the tokens valid for this app only.');

/** The app that the tokens of a login are limited to: at the origin of an app always that one. */
export function appOfLogin(
  { appHost, body }: { appHost: AppHost | undefined; body: { app?: string | undefined } },
): string | undefined {
  return appHost?.app ?? body.app;
}

/** Sets status and cookies, and returns the body. */
export function respondToSignIn(
  call: { deps: Pick<Deps, 'config'>; appHost: AppHost | undefined; overrides: ResponseOverrides },
  outcome: SignInOutcome,
): SignInResponse {
  if ('pair' in outcome) return respondWithTokens(call, outcome.pair, { user: outcome.user });
  call.overrides.status = 202;
  return { mfa_required: true, challenge_id: outcome.challenge_id };
}
