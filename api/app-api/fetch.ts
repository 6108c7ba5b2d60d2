// `fetch` for hook code: requests to the hosts that the policy `hooks.egress` names.
import type { FetchRequest, FetchResponse } from '../../hook-runner/calls.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { redirectStatuses } from '../egress/client.ts';
import { EgressError } from '../egress/failure.ts';
import { includesHost } from '../egress/wall.ts';
import { fail } from '../errors.ts';
import { encodeBytes, toBuffer } from '../hooks/rpc/inbound-values.ts';
import type { CallContext } from '../hooks/pool/generation.ts';
import { decodeBody } from './content-coding.ts';

/** The longest body of a response. As base64 it must fit into the response of a call. */
const maxBytes = 1_048_576;

/** The headers that clients of the Fetch standard send by default. Many servers refuse requests without them. */
const defaults = [['accept', '*/*'], ['user-agent', 'bulkhead']] as const;
/** The reason phrases that a `Response` can have (RFC 9112 section 4). */
const reasonPhrase = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Sends a request and returns the whole response. Throws `hook_error` when it cannot be sent or gets no response. */
export async function fetchForHook(
  { egress, policies }: Pick<Deps, 'egress' | 'policies'>,
  { id, workspace }: AppDefinition,
  { request, context }: { request: FetchRequest; context: CallContext },
): Promise<FetchResponse> {
  const url = URL.parse(request.url) ?? fail('hook_error', 'the URL cannot be read');
  const hosts = new Set(await policies.set('hooks.egress', { workspace: workspace.id, app: id }));
  const isAllowed = (target: URL) => includesHost(hosts, target);
  if (!isAllowed(url)) fail('hook_error', `policy hooks.egress does not name ${url.host}`);
  const { method, headers, body, redirect } = request;
  try {
    const response = await egress.send({
      method,
      url,
      headers: [
        ...headers,
        ...defaults.filter(([name]) => !headers.some(([own]) => own.toLowerCase() === name)),
      ],
      ...(body === null ? {} : { body: toBuffer(body) }),
      maxBytes,
      timeoutMs: Math.max(1, Math.floor(context.deadline - performance.now())),
      isAllowed,
      redirects: redirect === 'follow' ? 'follow' : 'manual',
    });
    if (redirect === 'error' && redirectStatuses.has(response.status)) {
      fail('hook_error', 'the host redirects the request');
    }
    if (response.status > 599) fail('hook_error', `the host responded with status ${response.status}`);
    const { headers: shown, body: content } = await decodeBody(response, maxBytes);
    return {
      url: response.url.href,
      redirected: response.url.href !== url.href,
      status: response.status,
      status_text: reasonPhrase.test(response.statusText) ? response.statusText : '',
      headers: shown,
      body: content.length === 0 ? null : encodeBytes(content),
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return fail('hook_error', error.message);
  }
}
