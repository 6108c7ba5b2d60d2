// What a provider is sent for a code, and which of its responses is a token.
import { expect, it } from 'vitest';
import { exchangeCode } from '../../../../api/auth/oauth/exchange.ts';
import type { EgressRequest, EgressResponse } from '../../../../api/egress/client.ts';
import type { LogEvent } from '../../../../api/logging/events.ts';
import type { ProviderRow } from '../../../../storage/workspace/oauth-providers.ts';

const provider: ProviderRow = {
  provider: 'p',
  client_id: 'an id',
  client_secret_sealed: null,
  auth_url: 'https://idp.example/authorize',
  token_url: 'https://idp.example/token',
  userinfo_url: 'https://idp.example/user',
  issuer: null,
  scopes: [],
  token_auth_method: 'client_secret_post',
  redirect_uris: null,
};
const state = { redirect_uri: 'https://app.example/', code_verifier: 'a verifier' };
const shared = {
  grant_type: 'authorization_code',
  code: 'a code',
  redirect_uri: state.redirect_uri,
  code_verifier: state.code_verifier,
};
const good = { access_token: 'a', id_token: 'b' };

/** What was sent, what came of it, and what the log heard. */
async function exchange(
  { response = good, status = 200, method = provider.token_auth_method, secret }: {
    response?: unknown;
    status?: number;
    method?: ProviderRow['token_auth_method'];
    secret?: string;
  },
) {
  const sent: EgressRequest[] = [];
  const facts: LogEvent[] = [];
  const send = (request: EgressRequest): Promise<EgressResponse> => {
    sent.push(request);
    const body = Buffer.from(JSON.stringify(response));
    return Promise.resolve({ url: request.url, status, statusText: '', headers: [], body });
  };
  const egress = {
    send,
    open: () => expect.fail('opened'),
    closePort: () => undefined,
    objection: () => undefined,
    close: () => Promise.resolve(),
  };
  const asking = {
    deps: { egress, observe: (fact: LogEvent) => void facts.push(fact) },
    workspace: 'w',
    provider: 'p',
  };
  const given = { provider: { ...provider, token_auth_method: method }, secret, code: 'a code', state };
  const outcome = await exchangeCode(asking, given).catch((error: unknown) => error);
  const form = Object.fromEntries(new URLSearchParams(String(sent[0]?.body)));
  return { outcome, form, headers: Object.fromEntries(sent[0]?.headers ?? []), facts };
}

const inForm = { client_id: 'an id' };
it.each<[string, ProviderRow['token_auth_method'], { secret?: string }, { form: object; basic?: string }]>([
  ['in the form', 'client_secret_post', { secret: 's:+' }, { form: { ...inForm, client_secret: 's:+' } }],
  ['in a header, encoded', 'client_secret_basic', { secret: 's:+' }, { form: {}, basic: 'an+id:s%3A%2B' }],
  ['not in the form where there is none', 'client_secret_post', {}, { form: inForm }],
  ['not in a header where there is none', 'client_secret_basic', {}, { form: inForm }],
])('the secret is shown %s', async (_what, method, given, { form, basic }) => {
  const { form: sent, headers } = await exchange({ method, ...given });
  expect(sent).toEqual({ ...shared, ...form });
  expect(headers).toEqual({
    'Content-Type': 'application/x-www-form-urlencoded',
    'Accept': 'application/json',
    'Accept-Encoding': 'identity',
    'User-Agent': 'bulkhead',
    ...(basic === undefined ? {} : { Authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
  });
});

it.each([
  ['both', good, { accessToken: 'a', idToken: 'b' }],
  ['no ID token', { access_token: 'a' }, { accessToken: 'a', idToken: undefined }],
  ['an ID token that is no text', { ...good, id_token: 5 }, { accessToken: 'a', idToken: undefined }],
])('of a response with %s that is taken', async (_what, response, tokens) => {
  expect((await exchange({ response })).outcome).toEqual(tokens);
});

it.each<[string, { response: unknown; status?: number }, string]>([
  ['another status', { response: good, status: 400 }, 'status 400'],
  ['an error', { response: { error: 'invalid_grant' }, status: 400 }, 'invalid_grant'],
  ['an error in words', { response: { error: 'the code a-secret-code' }, status: 400 }, 'status 400'],
  ['an error without end', { response: { error: 'x'.repeat(65) }, status: 400 }, 'status 400'],
  ['a success without a token', { response: {} }, 'status 200'],
  ['a token that is no text', { response: { access_token: 5 } }, 'status 200'],
  ['a token that ends its header', { response: { access_token: 'a\r\nHost: b' } }, 'status 200'],
  ['an empty token', { response: { access_token: '' } }, 'status 200'],
])('a response with %s is none, and the log says no more than a word', async (_what, given, reason) => {
  const { outcome, facts } = await exchange(given);
  expect(outcome).toMatchObject({ code: 'bad_credentials' });
  expect(facts).toEqual([{ type: 'provider_failed', workspace: 'w', provider: 'p', step: 'token', reason }]);
});

it.each([429, 500, 503])('status %i says nothing of the code', async (status) => {
  const { outcome, facts } = await exchange({ status });
  expect(outcome).toMatchObject({ code: 'unavailable', headers: [['Retry-After', '5']] });
  expect(facts).toMatchObject([{ step: 'token', reason: `status ${status}` }]);
});
