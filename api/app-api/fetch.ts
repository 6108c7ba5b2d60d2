// Requests that hook code sends to other servers: only to hosts that policy `hooks.egress` names.
import type { FetchRequest, FetchResponse } from '../../hook-runner/calls.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { redirectStatuses } from '../egress/client.ts';
import { EgressError } from '../egress/failure.ts';
import { includesHost } from '../egress/wall.ts';
import { fail } from '../errors.ts';
import { bufferOf, spell } from '../hooks/rpc/inbound-values.ts';
import type { CallContext } from '../hooks/pool/generation.ts';
import { decodeBody } from './content-coding.ts';

/** As base64 it must fit into an answer of a call. */
const mostBytes = 1_048_576;

/** What every client of the Fetch standard sends where the caller does not; many servers refuse who does not say what it is. */
const usual = [['accept', '*/*'], ['user-agent', 'bulkhead']] as const;
/** The words beside a status that a `Response` can have (RFC 9112 section 4, "reason-phrase"). */
const reasonPhrase = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Sends one request and answers its whole answer. Throws `hook_error` when it cannot be sent or has no answer. */
export async function fetchForHook(
  { egress, policies }: Pick<Deps, 'egress' | 'policies'>,
  { id, workspace }: AppDefinition,
  { request, context }: { request: FetchRequest; context: CallContext },
): Promise<FetchResponse> {
  const url = URL.parse(request.url) ?? fail('hook_error', 'the URL cannot be read');
  const hosts = new Set(await policies.set('hooks.egress', { workspace: workspace.id, app: id }));
  const permits = (asked: URL) => includesHost(hosts, asked);
  if (!permits(url)) fail('hook_error', `policy hooks.egress does not name ${url.host}`);
  const { method, headers, body, redirect } = request;
  try {
    const answer = await egress.send({
      method,
      url,
      headers: [
        ...headers,
        ...usual.filter(([name]) => !headers.some(([own]) => own.toLowerCase() === name)),
      ],
      ...(body === null ? {} : { body: bufferOf(body) }),
      maxBytes: mostBytes,
      timeoutMs: Math.max(1, Math.floor(context.deadline - performance.now())),
      isAllowed: permits,
      redirects: redirect === 'follow' ? 'follow' : 'answer',
    });
    if (redirect === 'error' && redirectStatuses.has(answer.status)) {
      fail('hook_error', 'the host redirects the request');
    }
    if (answer.status > 599) fail('hook_error', `the host answered with status ${answer.status}`);
    const { headers: shown, body: content } = await decodeBody(answer, mostBytes);
    return {
      url: answer.url.href,
      redirected: answer.url.href !== url.href,
      status: answer.status,
      status_text: reasonPhrase.test(answer.statusText) ? answer.statusText : '',
      headers: shown,
      body: content.length === 0 ? null : spell(content),
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return fail('hook_error', error.message);
  }
}
