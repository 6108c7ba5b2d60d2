// Hooks of users who come in. Served after `hooks.d.ts` at GET …/hooks/types.

/** The argument of a handler about an end-user. */
interface UserHookEvent {
  readonly action: 'register' | 'login';
  readonly user: { readonly id: string; readonly email: string; readonly verified: boolean };
  /** The way in. `profile`: by a record of an `auth` collection, which makes the user. After two steps, that of the first. */
  readonly method: 'password' | 'otp' | 'oauth' | 'profile';
  /**
   * The profile that is created along with the user, as it would be stored; null for none. A before-hook may assign to its
   * `fields`; the server checks them again and stores them.
   */
  readonly profile: HookRecord | null;
  /** Of a registration, the caller, or null for one without a token. Of a login, the user. */
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

/**
 * Runs the handler before somebody becomes an end-user by this app: by a registration, a mailed code or a provider that names
 * the app, or by a new profile. It refuses by returning false or by throwing.
 */
declare function onUserBeforeRegister(handler: (event: UserHookEvent) => unknown): void;
/** Runs the handler after an end-user has logged in to this app. Its errors go to the app's log and change nothing. */
declare function onUserAfterLogin(handler: (event: UserHookEvent) => unknown): void;
