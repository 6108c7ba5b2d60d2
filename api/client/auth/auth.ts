// Signing in and out, and the account of whoever is signed in.
import type { Transport } from '../transport.ts';
import type { OAuth, OAuthPorts } from './oauth.ts';
import type { AuthListener, Session, SessionKeeper, SignIn, User } from './session.ts';
import { browser } from './storage.ts';

type SignInResponse = Session & { challenge_id?: string };

/** Where users sign in. All of it throws `BulkheadError` and `ConnectionError`. */
export interface Auth extends OAuth {
  /** The user who is signed in, as of the last sign-in or refresh. */
  readonly user: User | undefined;
  readonly session: Session | undefined;
  /** Resolves once it is known who is signed in. */
  readonly ready: Promise<void>;
  /** Calls the listener after each change of the session, here or in another tab. Returns what ends that. */
  onAuthChange(listener: AuthListener): () => void;
  /** Makes a user, who then signs in. */
  register(credentials: { email: string; password: string }): Promise<User>;
  signIn(credentials: { email: string; password: string }): Promise<SignIn>;
  /** Mails a code to sign in with. */
  requestCode(email: string): Promise<void>;
  signInWithCode(credentials: { email: string; code: string }): Promise<SignIn>;
  completeChallenge(id: string, code: string): Promise<User>;
  /** Ends the session here, in the other tabs, and on the server. */
  signOut(): Promise<void>;
  /** Goes on with tokens that were got elsewhere. */
  restore(session: Session): Promise<void>;
  /** Gets new tokens and the user as of now. Returns false if nobody is signed in any more. */
  refresh(): Promise<boolean>;
  /** The user as of now. */
  me(): Promise<User>;
  /** Sends to one of the routes of the account: `verify-email/request`, `password-reset/confirm`, `totp/enroll` and so on. */
  post<R = unknown>(route: string, body?: object): Promise<R>;
}

/** What the routes of sign-in are reached with. */
export interface AuthOptions {
  transport: Transport;
  keeper: SessionKeeper;
  /** `/api/workspaces/:workspace/auth` */
  path: string;
  app: string;
  usesCookies: boolean;
}

/** Makes `client.auth`. */
export function createAuth(options: AuthOptions): Auth {
  const { transport, keeper, path } = options;
  const steps = signInSteps(options);
  const { post, signIn } = steps;
  return {
    get user() {
      return keeper.current?.user;
    },
    get session() {
      return keeper.current;
    },
    ready: keeper.ready,
    onAuthChange: (listener) => keeper.listen(listener),
    register: (credentials) => post('users/register', credentials, true),
    signIn: (credentials) => signIn('users/login', credentials),
    requestCode: async (email) => void await post('otp/request', { email }, true),
    signInWithCode: (credentials) => signIn('otp/login', credentials),
    completeChallenge: steps.complete,
    signOut: async () => {
      await keeper.ready;
      const { access_token, refresh_token } = keeper.current ?? {};
      await keeper.set(undefined, 'signed_out');
      const headers = access_token === undefined ? undefined : { authorization: `Bearer ${access_token}` };
      await transport.json('POST', '/_/auth/logout', { body: { refresh_token }, headers, isAnonymous: true });
    },
    restore: async (session) => {
      await keeper.ready;
      await keeper.set(session, 'signed_in');
    },
    refresh: async () => {
      await keeper.ready;
      const { current } = keeper;
      return current !== undefined && await keeper.renew(current.access_token) !== undefined;
    },
    me: () => transport.json('GET', `${path}/me`),
    post,
    ...lazyOAuth({ transport, path, signIn }),
  };
}

/** Most pages need none of it, so it is loaded when it is used. */
function lazyOAuth(ports: OAuthPorts): OAuth {
  const load = () => import('./oauth.ts');
  return {
    signInWithPopup: async (provider, options) => {
      const popup = browser.open?.('about:blank', '_blank', 'popup,width=500,height=700');
      return await (await load()).signInWithPopup(ports, popup, { provider, options });
    },
    signInWithRedirect: async (...sent) => await (await load()).signInWithRedirect(ports, ...sent),
    completeOAuth: async () => await (await load()).completeOAuth(ports),
  };
}

/** What all ways to sign in have in common. */
function signInSteps({ transport, keeper, path, app, usesCookies }: AuthOptions) {
  const post = <R>(route: string, body?: object, isAnonymous?: boolean) =>
    transport.json<R>('POST', `${path}/${route}`, { body, isAnonymous });
  const enter = async (session: Session) => {
    await keeper.set(usesCookies ? { ...session, refresh_token: undefined } : session, 'signed_in');
    return session.user;
  };
  const complete = async (challenge_id: string, code: string) =>
    await enter(await post<Session>('users/login/totp', { challenge_id, code }, true));
  const signIn = async (route: string, body: object): Promise<SignIn> => {
    // A session that is read from the storage later would take the place of the new one.
    await keeper.ready;
    const { challenge_id: id, ...session } = await post<SignInResponse>(route, { ...body, app }, true);
    if (id !== undefined) return { challenge: { id, complete: (code) => complete(id, code) } };
    return { user: await enter(session) };
  };
  return { post, complete, signIn };
}
