// A sign-in provider for trying OAuth, on http://127.0.0.1:9001 or the given port. It signs everybody in as one person.
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const person = { sub: '1', email: process.argv[3] ?? 'ada@example.com', email_verified: true, name: 'Ada' };
const client = { id: 'try', secret: 'a secret to try with' };
const challenges = new Map(); // PKCE challenges by code; each code works once
const tokens = new Set();

/** Sends the user straight back with a code. A real provider would ask for a password first. */
function authorize({ client_id, redirect_uri, state, code_challenge, code_challenge_method }) {
  if (client_id !== client.id || code_challenge_method !== 'S256') return { status: 400, error: 'invalid_request' };
  const code = randomUUID();
  challenges.set(code, code_challenge);
  const back = new URL(redirect_uri);
  back.searchParams.set('code', code);
  back.searchParams.set('state', state);
  return { status: 302, headers: { Location: back.href } };
}

/** Exchanges a code for a token, if the client is ours and has the verifier of the sign-in that it began. */
function exchange({ client_id, client_secret, code, code_verifier = '' }) {
  if (client_id !== client.id || client_secret !== client.secret) return { status: 401, error: 'invalid_client' };
  const challenge = challenges.get(code);
  challenges.delete(code);
  if (challenge !== createHash('sha256').update(code_verifier).digest('base64url')) {
    return { status: 400, error: 'invalid_grant' };
  }
  const token = randomUUID();
  tokens.add(token);
  return { status: 200, body: { access_token: token, token_type: 'Bearer', expires_in: 300 } };
}

function userinfo(authorization = '') {
  return tokens.has(authorization.replace('Bearer ', '')) ? { status: 200, body: person } : { status: 401, error: 'invalid_token' };
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  let text = '';
  for await (const chunk of request) text += chunk;
  const result = pathname === '/authorize'
    ? authorize(Object.fromEntries(searchParams))
    : pathname === '/token'
    ? exchange(Object.fromEntries(new URLSearchParams(text)))
    : userinfo(request.headers.authorization);
  response.writeHead(result.status, { 'Content-Type': 'application/json', ...result.headers });
  response.end(JSON.stringify(result.body ?? { error: result.error }));
});

server.listen(Number(process.argv[2] ?? 9001), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port} signs everybody in as ${person.email}`);
});
