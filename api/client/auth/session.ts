// The session of the user who is signed in: one for all tabs, with an access token that is renewed in time.
import { UnauthorizedError } from '../errors.ts';
import type { Credentials } from '../transport.ts';
import { browser, dataOf, type TextStorage } from './storage.ts';

/** An end-user, as the API shows it. */
export interface User {
  id: string;
  email: string;
  verified: boolean;
  has_password: boolean;
  totp_enabled: boolean;
  last_login: string | null;
  oauth_providers: string[];
  created_at: string;
  updated_at: string;
}

/** The tokens of a user who is signed in. */
export interface Session {
  access_token: string;
  /** Left out where it is in a cookie. */
  refresh_token?: string | undefined;
  user: User;
  /** When the access token ends, in milliseconds of this device's clock. */
  expires_at?: number | undefined;
}

/** The second step of a sign-in: a code of the authenticator, or a recovery code. */
export interface Challenge {
  /** Can be kept, and completed with `completeChallenge`. */
  id: string;
  complete(code: string): Promise<User>;
}

/** The outcome of a sign-in: the user, or the challenge that comes before. */
export type SignIn = { user: User; challenge?: undefined } | { user?: undefined; challenge: Challenge };

/** Why the session has changed. */
export type AuthEvent = 'signed_in' | 'signed_out' | 'refreshed';

/** Called after the session has changed, here or in another tab. */
export type AuthListener = (event: AuthEvent, session: Session | undefined) => void;

/** Where the session is, and how it is renewed. */
export interface KeeperOptions {
  /** The same in all tabs that share the session. */
  key: string;
  storage: TextStorage;
  /** True when all tabs use the same storage or cookies. */
  isShared: boolean;
  /** True when the refresh token is in a cookie, and the storage only says that there is one. */
  usesCookies: boolean;
  /** Gets new tokens. Throws `UnauthorizedError` when the session has ended. */
  exchange(session: Session | undefined): Promise<Session>;
}

/** An access token is renewed this long before its end. */
const marginMs = 10_000;

/** A tab that waits longer for another one goes on alone: a lock that never ends must end no session. */
const lockTimeoutMs = 20_000;

/** News of a session reach other tabs within this time. */
const newsMs = 100;

/** A tab that has a session sends it to one that asks within this time. */
const askMs = 200;

/** What tabs say to each other. */
type TabMessage = { ask: true } | { ask?: undefined; event: AuthEvent; session: Session | undefined };

/** The session, and what changes it. It begins by reading the storage. */
export class SessionKeeper implements Credentials {
  /** Resolves once it is known who is signed in. */
  readonly ready: Promise<void>;
  current: Session | undefined;
  readonly #options: KeeperOptions;
  readonly #channel: BroadcastChannel | undefined;
  readonly #listeners = new Set<AuthListener>();
  #renewing: Promise<string | undefined> | undefined;
  #exchanges = 0;
  #heard: (() => void) | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    if (options.isShared && 'BroadcastChannel' in globalThis) {
      this.#channel = new BroadcastChannel(options.key);
      this.#channel.addEventListener('message', (message) => this.#hear(dataOf<TabMessage>(message)));
    }
    this.ready = this.#begin();
  }

  /** Calls the listener after each change, and returns what ends that. */
  listen(listener: AuthListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Begins a session, replaces it, or ends it. */
  async set(session: Session | undefined, event: AuthEvent): Promise<void> {
    const { key, storage, usesCookies } = this.#options;
    const dated = session && { ...session, expires_at: session.expires_at ?? endOf(session.access_token) };
    if (dated === undefined) await storage.removeItem(key);
    else await storage.setItem(key, usesCookies ? '1' : JSON.stringify(dated));
    this.#adopt(dated, event);
    this.#channel?.postMessage({ event, session: dated } satisfies TabMessage);
  }

  async token(): Promise<string | undefined> {
    await this.ready;
    const { current } = this;
    return current !== undefined && isOver(current)
      ? await this.renew(current.access_token)
      : current?.access_token;
  }

  async renew(refused: string): Promise<string | undefined> {
    await this.ready;
    const { isShared } = this.#options;
    this.#renewing ??= (isShared ? this.#renewInTurn(refused) : this.#renewOnce(refused))
      .finally(() => this.#renewing = undefined);
    const token = await this.#renewing;
    // Another request may have begun the renewal for an older token.
    return token === refused ? undefined : token;
  }

  /** One tab after the other. The next one begins when the news of the last has reached it: storage is not shared at once. */
  #renewInTurn(refused: string): Promise<string | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    exclusively(this.#options.key, async () => {
      const before = this.#exchanges;
      await this.#renewOnce(refused).then(resolve, reject);
      if (this.#exchanges > before) await new Promise((go) => setTimeout(go, newsMs));
    }).catch(reject);
    return promise;
  }

  async #begin(): Promise<void> {
    const { key, storage, usesCookies } = this.#options;
    try {
      const session = await this.#read();
      if (session === undefined || this.current !== undefined) return;
      if (usesCookies) await this.set(session, 'refreshed');
      else this.#adopt(session, 'signed_in');
    } catch (error) {
      if (error instanceof UnauthorizedError) await storage.removeItem(key);
    }
  }

  async #read(): Promise<Session | undefined> {
    const { key, storage, usesCookies, exchange } = this.#options;
    const text = await storage.getItem(key);
    if (!text) return undefined;
    if (!usesCookies) return JSON.parse(text) as Session;
    await this.#ask();
    return this.current ?? await exchange(undefined);
  }

  /** Another tab may have the session: with a cookie, no token is in the storage, where other scripts may read it. */
  #ask(): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = resolve;
      setTimeout(resolve, this.#channel === undefined ? 0 : askMs);
      this.#channel?.postMessage({ ask: true } satisfies TabMessage);
    });
  }

  #hear(message: TabMessage): void {
    if (!message.ask) {
      this.#adopt(message.session, message.event);
      this.#heard?.();
    } else if (this.current !== undefined && !isOver(this.current)) {
      this.#channel?.postMessage({ event: 'refreshed', session: this.current } satisfies TabMessage);
    }
  }

  #adopt(session: Session | undefined, event: AuthEvent): void {
    const isSame = session?.access_token === this.current?.access_token;
    this.current = session;
    if (!isSame) this.#listeners.forEach((listener) => listener(event, session));
  }

  async #renewOnce(refused: string): Promise<string | undefined> {
    const { usesCookies, exchange } = this.#options;
    // Another tab may have renewed it, or signed out, while this one waited.
    if (this.current?.access_token === refused && !usesCookies) await this.#readAgain();
    const { current } = this;
    if (current?.access_token !== refused) return current?.access_token;
    this.#exchanges++;
    try {
      await this.set(await exchange(current), 'refreshed');
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      await this.set(undefined, 'signed_out');
    }
    return this.current?.access_token;
  }

  async #readAgain(): Promise<void> {
    const stored = await this.#read();
    this.#adopt(stored, stored === undefined ? 'signed_out' : 'refreshed');
  }
}

const isOver = ({ expires_at }: Session) => expires_at !== undefined && expires_at - marginMs < Date.now();

/** The time of an access token counts from now: this device's clock may be wrong. */
function endOf(token: string): number | undefined {
  try {
    const { iat, exp } = JSON.parse(
      atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')),
    );
    const lifetime = (exp - iat) * 1_000;
    // One that lives as short as the margin is renewed when the server refuses it.
    return lifetime > 2 * marginMs ? Date.now() + lifetime : undefined;
  } catch {
    return undefined;
  }
}

/** Runs `work` in one tab at a time, where tabs can be told apart from each other. */
async function exclusively<R>(name: string, work: () => Promise<R>): Promise<R> {
  const locks = browser.navigator?.locks;
  if (locks === undefined) return await work();
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  try {
    return await locks.request(name, { signal: AbortSignal.timeout(lockTimeoutMs) }, begin);
  } catch (error) {
    if (hasBegun) throw error;
    return await work();
  }
}
