// Requests to a provider, and the errors of a sign-in whose provider does not respond.
import type { Deps } from '../../deps.ts';
import type { EgressRequest, EgressResponse } from '../../egress/client.ts';
import { EgressError } from '../../egress/failure.ts';
import { fail } from '../../errors.ts';
import type { HeaderList } from '../../http/header-list.ts';

/** The request. */
export type ProviderStep = 'token' | 'userinfo' | 'emails' | 'discovery' | 'keys';

/** The part that all requests to one provider share. */
export interface ProviderContext {
  deps: Pick<Deps, 'egress' | 'observe'>;
  workspace: string;
  provider: string;
}

/** A response, read as JSON. */
export interface JsonResponse {
  status: number;
  value: unknown;
}

const maxBytes = 65_536;

/** Sent with every question: GitHub wants a name, and to be told that JSON is wanted. */
const ourHeaders: HeaderList = [
  ['Accept', 'application/json'],
  ['Accept-Encoding', 'identity'],
  ['User-Agent', 'bulkhead'],
];

/** Sends a request. Throws `503 unavailable` when no usable response comes within five seconds. */
export async function requestJson(
  { deps, ...whom }: ProviderContext,
  step: ProviderStep,
  { url, headers = [], ...request }: Pick<EgressRequest, 'method' | 'headers' | 'body'> & { url: string },
): Promise<JsonResponse> {
  let response: EgressResponse;
  try {
    const sent = [...headers, ...ourHeaders];
    response = await deps.egress.send({ ...request, url: new URL(url), headers: sent, maxBytes });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return failUnavailable({ deps, ...whom }, step, error.failure);
  }
  const { status, body } = response;
  // https://www.rfc-editor.org/rfc/rfc6585#section-4 and the 5xx: not about this sign-in.
  if (status === 429 || status >= 500) return failUnavailable({ deps, ...whom }, step, `status ${status}`);
  const value = parse(body);
  return value === undefined ? failUnavailable({ deps, ...whom }, step, 'no JSON') : { status, value };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Ends a sign-in whose provider is no help; only the log says why. */
export function failUnavailable(
  { deps, workspace, provider }: ProviderContext,
  step: ProviderStep,
  reason: string,
): never {
  deps.observe({ type: 'provider_failed', workspace, provider, step, reason });
  fail('unavailable', `the ${step} endpoint of the provider gives no usable response`, [[
    'Retry-After',
    '5',
  ]]);
}

/** A member of a JSON object; undefined for anything else. */
export function jsonMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
