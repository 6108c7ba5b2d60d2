// Custom routes: the request goes to the app's runner, what comes back goes to the client as fast as the client takes it.
import type { IncomingMessage } from 'node:http';
import type { Bytes } from '../../../hook-runner/calls.ts';
import type { RouteInvocation } from '../../../hook-runner/protocol.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { makeHookAuth } from '../actor.ts';
import type { AppHooks } from '../app-hooks.ts';
import { refuseBroken } from '../run-event.ts';
import { type PagesPlace, RouteExchange } from './exchange.ts';
import { toHookHeaders } from './headers.ts';
import { encodeBytes } from '../rpc/inbound-values.ts';
import type { CustomRequest } from '../ports.ts';

type CustomDeps = Pick<Deps, 'config' | 'databases' | 'hosts'>;

/** `/api/workspaces/:workspace/apps/:app/custom/` */
const slashesBefore = 7;

/** Runs the route that a request is for. See `Hooks.serve`. */
export async function serveCustom(
  deps: CustomDeps,
  hooks: AppHooks,
  app: AppDefinition,
  request: CustomRequest,
): Promise<void> {
  const { response, principal, requestId, appHost } = request;
  const { req } = response;
  const { cookie_prefix: cookiePrefix } = deps.config.http;
  const registrations = hooks.registrations ?? await hooks.loadRegistrations();
  const method = req.method ?? 'GET';
  const path = customPath(req);
  const match = registrations.matchRoute(method, path);
  if (match === undefined) {
    if (request.serveOther !== undefined) return await request.serveOther(path);
    fail('not_found', 'no hook has registered this route');
  }
  if (registrations.broken.some(({ routes }) => routes.includes(match.route))) await refuseBroken(hooks);
  // Spelled while it is its turn, and not when the hooks have one.
  const body = method === 'GET' || method === 'HEAD' ? null : encodeBody(await request.body());
  const auth = principal === null ? null : await makeHookAuth(deps, app, principal);
  const message = (id: number): RouteInvocation => ({
    type: 'route',
    id,
    method: match.route.method,
    path: match.route.path,
    params: match.params,
    request: {
      method,
      url: appHost === undefined ? req.url ?? '/' : `http://${req.headers.host}${ownPath(req)}`,
      headers: toHookHeaders(req.rawHeaders, cookiePrefix),
      body,
    },
    auth,
    request_id: requestId,
  });
  const turn = hooks.slots.acquire();
  if (turn !== undefined) await turn;
  const exchange = new RouteExchange(hooks, request, {
    route: match.route,
    cookiePrefix,
    pages: pagesOf(deps, app, request),
  });
  try {
    await exchange.begin(message);
  } catch (error) {
    exchange.close();
    throw error;
  }
}

/** Where pages of a route are shown. Where apps have origins of their own, the server's own shows none. */
function pagesOf(
  { hosts }: Pick<Deps, 'hosts'>,
  app: AppDefinition,
  { appHost, response: { req } }: CustomRequest,
): PagesPlace {
  if (appHost !== undefined || !hosts.hasAppDomain) return 'here';
  const origin = hosts.originOf(app, req.headers.host);
  return { address: origin === undefined ? undefined : `${origin}${ownPath(req)}` };
}

/** The path and the query of a request, as at the origin of the app. */
function ownPath(request: IncomingMessage): string {
  const { url = '' } = request;
  const query = url.indexOf('?');
  return `/${customPath(request)}${query === -1 ? '' : url.slice(query)}`;
}

/** The path behind `/custom/`, still encoded: a slash within a part is no slash between parts. */
function customPath({ url = '' }: IncomingMessage): string {
  const path = textBefore('?', textBefore('#', url));
  // A request line may have the whole address (RFC 9112 section 3.2.2).
  let at = path.startsWith('/') ? 0 : path.indexOf('/', path.indexOf('//') + 2);
  for (let slash = 0; slash < slashesBefore; slash++) at = path.indexOf('/', at) + 1 || path.length;
  return path.slice(at);
}

function encodeBody(body: Buffer): Bytes | null {
  return body.length === 0 ? null : encodeBytes(body);
}

function textBefore(mark: string, text: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}
