// A small OAuth server in GitHub's shape: no OpenID, errors answered with 200, addresses at an endpoint of their own.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** https://docs.github.com/rest/users/emails */
export interface HostedEmail {
  email: string;
  primary: boolean;
  verified: boolean;
}

/** The server. */
export interface CodeHost {
  config: { auth_url: string; token_url: string; userinfo_url: string };
  clientId: string;
  clientSecret: string;
  /** Somebody signs in with what `authorize` answered: the code to come back with. */
  enter(
    authorizeUrl: string,
    account: { id: number; emails: HostedEmail[] },
  ): { code: string; state: string };
  /** Stands in for the real response of a path. */
  spoil(path: string, listener: RequestListener): void;
  /** Bodies that the token endpoint was sent. */
  readonly exchanges: readonly URLSearchParams[];
  close(): Promise<void>;
}

interface Visit {
  challenge: string | null;
  redirectUri: string | null;
  account: { id: number; emails: HostedEmail[] };
}

/** Starts one on a free port of the loopback. */
export async function startCodeHost(): Promise<CodeHost> {
  const desk = new Desk();
  const spoilt = new Map<string, RequestListener>();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://host');
    const special = spoilt.get(pathname);
    if (special !== undefined) return special(request, response);
    const body = pathname === '/token' ? desk.exchange(await formOf(request)) : desk.tell(pathname, request);
    response.writeHead(body === undefined ? 401 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body ?? { message: 'Bad credentials' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    config: { auth_url: `${origin}/authorize`, token_url: `${origin}/token`, userinfo_url: `${origin}/user` },
    clientId: desk.clientId,
    clientSecret: desk.clientSecret,
    exchanges: desk.exchanges,
    enter: (authorizeUrl, account) => desk.enter(new URL(authorizeUrl).searchParams, account),
    spoil: (path, listener) => void spoilt.set(path, listener),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What the server knows, and answers. */
class Desk {
  readonly clientId = 'client of the test';
  readonly clientSecret: string = randomUUID();
  readonly exchanges: URLSearchParams[] = [];
  readonly #codes = new Map<string, Visit>();
  readonly #tokens = new Map<string, Visit>();

  enter(parameters: URLSearchParams, account: Visit['account']): { code: string; state: string } {
    const code = randomUUID();
    const [challenge, redirectUri] = [parameters.get('code_challenge'), parameters.get('redirect_uri')];
    this.#codes.set(code, { challenge, redirectUri, account });
    return { code, state: parameters.get('state') ?? '' };
  }

  /** A code works once, for the client and the verifier that it was made for. */
  exchange(form: URLSearchParams): object {
    this.exchanges.push(form);
    const code = form.get('code') ?? '';
    const visit = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    const isClient = form.get('client_id') === this.clientId &&
      form.get('client_secret') === this.clientSecret;
    const isVisit = form.get('redirect_uri') === visit?.redirectUri && challenge === visit?.challenge;
    if (visit === undefined || !isClient || !isVisit) return { error: 'bad_verification_code' };
    const token = `gho_${randomUUID()}`;
    this.#tokens.set(token, visit);
    return { access_token: token, token_type: 'bearer' };
  }

  tell(path: string, { headers }: IncomingMessage): object | undefined {
    const account = this.#tokens.get(headers.authorization?.replace('Bearer ', '') ?? '')?.account;
    if (account === undefined) return undefined;
    return path === '/user/emails' ? account.emails : { id: account.id, login: 'octo', email: null };
  }
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const part of request) text += String(part);
  return new URLSearchParams(text);
}
