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
  /** Stands in for the real answer of a path. */
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
  const [clientId, clientSecret] = ['client of the test', randomUUID()];
  const codes = new Map<string, Visit>();
  const tokens = new Map<string, Visit>();
  const spoilt = new Map<string, RequestListener>();
  const exchanges: URLSearchParams[] = [];
  const exchange = (form: URLSearchParams): object => {
    exchanges.push(form);
    const code = form.get('code') ?? '';
    const visit = codes.get(code);
    codes.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const isRight = form.get('client_id') === clientId && form.get('client_secret') === clientSecret &&
      form.get('redirect_uri') === visit?.redirectUri &&
      createHash('sha256').update(verifier).digest('base64url') === visit?.challenge;
    if (visit === undefined || !isRight) return { error: 'bad_verification_code' };
    const token = `gho_${randomUUID()}`;
    tokens.set(token, visit);
    return { access_token: token, token_type: 'bearer', scope: form.get('scope') ?? '' };
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://host');
    const special = spoilt.get(pathname);
    if (special !== undefined) return special(request, response);
    const account = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '')?.account;
    const answers: Record<string, () => Promise<object> | object | undefined> = {
      '/token': async () => exchange(await formOf(request)),
      '/user': () => account && { id: account.id, login: 'octo', email: null },
      '/user/emails': () => account?.emails,
    };
    const answer = await answers[pathname]?.();
    response.writeHead(answer === undefined ? 401 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer ?? { message: 'Bad credentials' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    config: { auth_url: `${origin}/authorize`, token_url: `${origin}/token`, userinfo_url: `${origin}/user` },
    clientId,
    clientSecret,
    exchanges,
    enter: (authorizeUrl, account) => {
      const { searchParams } = new URL(authorizeUrl);
      const code = randomUUID();
      const [challenge, redirectUri] = [searchParams.get('code_challenge'), searchParams.get('redirect_uri')];
      codes.set(code, { challenge, redirectUri, account });
      return { code, state: searchParams.get('state') ?? '' };
    },
    spoil: (path, listener) => void spoilt.set(path, listener),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const part of request) text += String(part);
  return new URLSearchParams(text);
}
