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

/** Why the session has changed. */
export type AuthEvent = 'signed_in' | 'signed_out' | 'refreshed';

/** Called after the session has changed, here or in another tab. */
export type AuthListener = (event: AuthEvent, session: Session | undefined) => void;

/** The session, and what changes it. */
export interface SessionKeeper extends Credentials {
  readonly current: Session | undefined;
  /** Resolves once it is known who is signed in. */
  ready: Promise<void>;
  /** Begins a session, replaces it, or ends it. */
  set(session: Session | undefined, event: AuthEvent): Promise<void>;
  listen(listener: AuthListener): () => void;
}

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

/** A tab that has a session sends it to one that asks within this time. */
const askMs = 200;

/** Makes the keeper, which begins to read the storage. */
export function createSessionKeeper(
  { key, storage, isShared, usesCookies, exchange }: KeeperOptions,
): SessionKeeper {
  const listeners = new Set<AuthListener>();
  const channel = isShared && 'BroadcastChannel' in globalThis ? new BroadcastChannel(key) : undefined;
  let current: Session | undefined;
  let renewing: Promise<string | undefined> | undefined;
  let heard: (() => void) | undefined;

  const adopt = (session: Session | undefined, event: AuthEvent) => {
    const isSame = session?.access_token === current?.access_token;
    current = session;
    if (!isSame) listeners.forEach((listener) => listener(event, session));
  };
  channel?.addEventListener('message', (message) => {
    const data = dataOf<{ ask?: true; event: AuthEvent; session?: Session }>(message);
    if (!data.ask) {
      adopt(data.session, data.event);
      heard?.();
    } else if (current !== undefined && !isOver(current)) {
      channel.postMessage({ event: 'refreshed', session: current });
    }
  });

  /** Another tab may have the session: no token in a cookie is in the storage, where other scripts may read it. */
  const ask = () =>
    new Promise<void>((resolve) => {
      heard = resolve;
      setTimeout(resolve, channel === undefined ? 0 : askMs);
      channel?.postMessage({ ask: true });
    });
  const read = async (): Promise<Session | undefined> => {
    const text = await storage.getItem(key);
    if (!text) return undefined;
    if (!usesCookies) return JSON.parse(text) as Session;
    await ask();
    return current ?? await exchange(undefined);
  };
  const set = async (session: Session | undefined, event: AuthEvent) => {
    const dated = session && { ...session, expires_at: session.expires_at ?? endOf(session.access_token) };
    if (dated === undefined) await storage.removeItem(key);
    else await storage.setItem(key, usesCookies ? '1' : JSON.stringify(dated));
    adopt(dated, event);
    channel?.postMessage({ event, session: dated });
  };

  const ready = Promise.resolve().then(read).then(
    (session) =>
      current === undefined && session !== undefined
        ? usesCookies ? set(session, 'refreshed') : adopt(session, 'signed_in')
        : undefined,
    async (error) => error instanceof UnauthorizedError ? await storage.removeItem(key) : undefined,
  );
  const renewOnce = async (refused: string): Promise<string | undefined> => {
    // Another tab may have renewed it, or signed out, while this one waited.
    if (current?.access_token !== refused) return current?.access_token;
    if (usesCookies) await ask();
    const stored = usesCookies ? current : await read();
    if (stored?.access_token !== refused) {
      adopt(stored, stored === undefined ? 'signed_out' : 'refreshed');
      return stored?.access_token;
    }
    try {
      await set(await exchange(stored), 'refreshed');
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      await set(undefined, 'signed_out');
    }
    return current?.access_token;
  };
  const keeper: SessionKeeper = {
    get current() {
      return current;
    },
    ready,
    set,
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    token: async () => {
      await ready;
      return current !== undefined && isOver(current)
        ? await keeper.renew(current.access_token)
        : current?.access_token;
    },
    renew: async (refused) => {
      await ready;
      renewing ??= (isShared ? exclusively(key, () => renewOnce(refused)) : renewOnce(refused))
        .finally(() => renewing = undefined);
      const token = await renewing;
      // Another request may have begun the renewal for an older token.
      return token === refused ? undefined : token;
    },
  };
  return keeper;
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
