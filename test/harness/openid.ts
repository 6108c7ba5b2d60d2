// A real OpenID provider on the loopback, and people who sign in there.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { type ClientMetadata, type Configuration, Provider } from 'oidc-provider';

/** What the provider knows of an account. */
export interface PeerAccount {
  /** The subject, and the name that its login page asks for; it takes any password. */
  login: string;
  email: string;
  /** Left out: the provider does not say. */
  emailVerified?: boolean;
  /** Whom it takes the bearer of the access token for, when that is somebody else. */
  mistakenFor?: string;
}

/** What the provider sends back with a person. */
export interface SentBack {
  code: string;
  state: string;
  /** The whole URL that the person was sent to. */
  url: string;
}

/** The provider. PKCE is required of every client. */
export interface OpenIdPeer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What a workspace's provider configuration needs, but for id and secret. */
  config: { auth_url: string; token_url: string; userinfo_url: string; issuer: string; scopes: string[] };
  /** Makes an account, or changes it. */
  know(account: PeerAccount): void;
  /** Signs with a new key from now on, and tells of no other. */
  turnKeys(): void;
  /** The `Authorization` that came with the last code; undefined without one. */
  authorization(): string | undefined;
  /** How often its keys were asked for. */
  keyRequests(): number;
  /** Goes through login and consent as a browser would, and answers what the redirect URI is called with. */
  signIn(authorizeUrl: string, login: string): Promise<SentBack>;
  close(): Promise<void>;
}

/** How to start one. */
export interface PeerOptions {
  /** The client's redirect URIs; matched exactly. */
  redirectUris: readonly string[];
  /** How the client shows its secret. */
  authMethod?: 'client_secret_post' | 'client_secret_basic';
  /** With characters that the two ways of sending it encode differently. */
  clientSecret?: string;
}

/** Starts one on a free port. */
export async function startOpenIdPeer(
  { redirectUris, authMethod = 'client_secret_post', clientSecret = `a secret+of/${randomUUID()}` }:
    PeerOptions,
): Promise<OpenIdPeer> {
  const accounts = new Map<string, PeerAccount>();
  const clientId = 'bulkhead-test';
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const client: ClientMetadata = {
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uris: [...redirectUris],
    token_endpoint_auth_method: authMethod,
  };
  const begin = () => new Provider(issuer, configurationOf(client, accounts)).callback();
  let handle = begin();
  let keyRequests = 0;
  let authorization: string | undefined;
  server.on('request', (request, response) => {
    if (request.url === '/jwks') keyRequests++;
    if (request.url === '/token') authorization = request.headers.authorization;
    void handle(request, response);
  });
  return {
    issuer,
    clientId,
    clientSecret,
    config: {
      auth_url: `${issuer}/auth`,
      token_url: `${issuer}/token`,
      userinfo_url: `${issuer}/me`,
      issuer,
      scopes: ['openid', 'email', 'profile'],
    },
    turnKeys: () => void (handle = begin()),
    authorization: () => authorization,
    keyRequests: () => keyRequests,
    know: (account) => void accounts.set(account.login, account),
    signIn: (authorizeUrl, login) => new Browser(issuer).signIn(authorizeUrl, login),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function configurationOf(client: ClientMetadata, accounts: ReadonlyMap<string, PeerAccount>): Configuration {
  return {
    clients: [client],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: [randomUUID()] },
    // Fixed ones, or it tells of each that it would rather have been given.
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    jwks: { keys: [signingKey()] },
    findAccount: (context, login) => {
      const account = accounts.get(login);
      if (account === undefined) return undefined;
      const { email, emailVerified, mistakenFor = login } = account;
      const sub = context.path === '/me' ? mistakenFor : login;
      const claims = {
        sub,
        email,
        ...(emailVerified === undefined ? {} : { email_verified: emailVerified }),
      };
      return { accountId: sub, claims: () => Promise.resolve(claims) };
    },
  };
}

function signingKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' };
}

const mostSteps = 12;

/** Cookies, forms and redirects, as far as the provider's pages need them. */
class Browser {
  readonly #issuer: string;
  readonly #cookies = new Map<string, string>();

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  async signIn(authorizeUrl: string, login: string): Promise<SentBack> {
    let url = authorizeUrl;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < mostSteps; step++) {
      if (!url.startsWith(`${this.#issuer}/`)) return sentBack(url);
      const response = await this.#ask(url, form);
      form = undefined;
      const location = response.headers.get('Location');
      const page = await response.text();
      if (location !== null) {
        url = new URL(location, url).href;
        continue;
      }
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      const action = /<form [^>]*action="([^"]+)"/.exec(page)?.[1];
      if (prompt === undefined || action === undefined) throw new Error(`${response.status} ${page}`);
      url = new URL(action, url).href;
      form = new URLSearchParams({ prompt, login, password: 'any' });
    }
    throw new Error(`the provider sends the browser around, at last to ${url}`);
  }

  async #ask(url: string, form: URLSearchParams | undefined): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: cookie },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split('=');
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }
}

function sentBack(url: string): SentBack {
  const { searchParams } = new URL(url);
  const [code, state] = [searchParams.get('code'), searchParams.get('state')];
  if (code === null || state === null) throw new Error(`the provider refuses: ${url}`);
  return { code, state, url };
}
