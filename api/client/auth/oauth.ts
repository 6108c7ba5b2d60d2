// Signing in with another provider, in a popup or by leaving the page and coming back.
import type { Transport } from '../transport.ts';
import type { SignIn } from './session.ts';
import { browser, dataOf } from './storage.ts';

/** How to sign in with a provider. */
export interface OAuthOptions {
  /** The page that calls `completeOAuth`; the provider must know it. Default: this page. */
  redirectUri?: string | undefined;
  /** Ends a wait for the popup. */
  signal?: AbortSignal | undefined;
}

/** Signing in with another provider. */
export interface OAuth {
  /** Opens the provider in a popup. Call it in the handler of a click, or the browser blocks it. */
  signInWithPopup(provider: string, options?: OAuthOptions): Promise<SignIn>;
  /** Leaves the page for the provider, which sends the user back to `redirectUri`. */
  signInWithRedirect(provider: string, options?: OAuthOptions): Promise<void>;
  /**
   * Completes a sign-in on the page that the provider sends the user to. In a popup it closes the window. Resolves with
   * undefined if the URL is not one of a sign-in. Throws if the sign-in was not begun in this browser.
   */
  completeOAuth(): Promise<SignIn | undefined>;
}

interface Begun {
  provider: string;
  redirectUri: string;
  state: string;
}

const key = 'bulkhead:oauth';

/** What the steps are made with. */
export interface OAuthPorts {
  transport: Transport;
  path: string;
  signIn: (route: string, body: object) => Promise<SignIn>;
}

/** Completes a sign-in in a popup, which is open already: only a click may open one. */
export async function signInWithPopup(
  ports: OAuthPorts,
  popup: ReturnType<NonNullable<typeof browser.open>> | undefined,
  { provider, options = {} }: { provider: string; options: OAuthOptions | undefined },
): Promise<SignIn> {
  if (!popup) throw new Error('the browser has blocked the popup');
  try {
    const { url, begun } = await begin(ports, provider, options);
    const sentBack = cameBack(begun.state, options.signal);
    popup.location.href = url;
    return await complete(ports, begun, await sentBack);
  } finally {
    popup.close();
  }
}

/** Leaves the page for the provider. */
export async function signInWithRedirect(
  ports: OAuthPorts,
  provider: string,
  options: OAuthOptions = {},
): Promise<void> {
  const { url, begun } = await begin(ports, provider, options);
  browser.sessionStorage?.setItem(key, JSON.stringify(begun));
  browser.location?.assign(url);
}

/** Completes a sign-in on the page that the provider sends the user to. */
export async function completeOAuth(ports: OAuthPorts): Promise<SignIn | undefined> {
  const query = new URL(browser.location?.href ?? 'http://localhost').searchParams;
  const state = query.get('state');
  if (state === null || !query.has('code') && !query.has('error')) return undefined;
  browser.history?.replaceState(null, '', ownAddress());
  const text = browser.sessionStorage?.getItem(key);
  browser.sessionStorage?.removeItem(key);
  const begun = text ? JSON.parse(text) as Begun : undefined;
  if (begun?.state === state) return await complete(ports, begun, query);
  // It may be the popup of another tab. Nobody else's tab listens for this state.
  if (!await handOver(state, query)) throw new Error('this sign-in was not begun here; begin it again');
  browser.close?.();
  return undefined;
}

async function begin({ transport, path }: OAuthPorts, provider: string, options: OAuthOptions) {
  const { redirectUri = ownAddress() } = options;
  const at = `${path}/oauth/${encodeURIComponent(provider)}/authorize`;
  const { authorize_url, state } = await transport.json<{ authorize_url: string; state: string }>('GET', at, {
    query: { redirect_uri: redirectUri },
    isAnonymous: true,
  });
  return { url: authorize_url, begun: { provider, redirectUri, state } };
}

function complete({ signIn }: OAuthPorts, { provider, redirectUri, state }: Begun, query: URLSearchParams) {
  const error = query.get('error_description') ?? query.get('error');
  if (error !== null) throw new Error(`the provider says: ${error}`);
  const body = { code: query.get('code'), state, redirect_uri: redirectUri };
  return signIn(`oauth/${encodeURIComponent(provider)}/callback`, body);
}

function ownAddress(): string {
  return (browser.location?.href ?? '').replace(/[?#].*$/, '');
}

/** The query that the provider has sent to the popup. */
function cameBack(state: string, signal: AbortSignal | undefined): Promise<URLSearchParams> {
  const channel = new BroadcastChannel(`${key}:${state}`);
  return new Promise<URLSearchParams>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    channel.addEventListener('message', (message) => {
      const data = dataOf<{ query?: string }>(message);
      if (data.query === undefined) return;
      channel.postMessage({ taken: true });
      resolve(new URLSearchParams(data.query));
    });
  }).finally(() => channel.close());
}

/** Gives the query to the tab that waits for it. False if none does. */
async function handOver(state: string, query: URLSearchParams): Promise<boolean> {
  const channel = new BroadcastChannel(`${key}:${state}`);
  const taken = new Promise<boolean>((resolve) => {
    channel.addEventListener('message', () => resolve(true));
    setTimeout(resolve, 1_000, false);
  });
  channel.postMessage({ query: query.toString() });
  return await taken.finally(() => channel.close());
}
