// WebSockets behind the same guards as every request: rate limit, setup, token, origin, headers, log line.
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import { noAppHost, unknownHost } from '../http/hosts/hosts.ts';
import { clientAddressOf, headerOf, requestIdOf } from '../http/request-info.ts';
import { reportTo } from '../realtime/build.ts';
import { WebSockets } from '../realtime/websocket/websocket.ts';
import { findTarget } from '../target.ts';
import { quotaLimit } from '../usage/quota.ts';
import { isKeySecret } from '../auth/keys/secret.ts';
import { cookieName } from '../auth/sessions/cookies.ts';
import { authenticateCookie, authenticateKey } from './authenticate.ts';
import { requireOwnRoute } from './authorize.ts';
import { defaultHeaders, type RequestGuards } from './guards.ts';
import { rateLimitError } from './rate-limit.ts';
import { logRequest } from './request-log.ts';
import { requireReady } from './setup-gate.ts';

const realtimePath = '/api/workspaces/:workspace/apps/:app/realtime';

/** Makes the WebSockets of one process. */
export function createWebSockets(deps: Deps, guards: RequestGuards): WebSockets {
  const { config, definitions, tokens, realtime } = deps;
  const { authenticator } = guards;
  const upgrades = new Upgrades(deps);
  const at = (request: IncomingMessage) => ({ deps, appHost: deps.hosts.appOf(request.headers.host) });
  const addressOf = (request: IncomingMessage) => clientAddressOf(request, config.http.trust_proxy);
  return new WebSockets({
    hub: realtime,
    report: reportTo(deps),
    headersFor: (request) => {
      const { requestId } = upgrades.get(request);
      return defaultHeaders(guards, {
        requestId,
        origin: headerOf(request, 'origin'),
        path: request.url ?? '',
      });
    },
    ports: {
      admit: async (request) => {
        const seconds = guards.limit(addressOf(request), upgrades.get(request).now.getTime());
        if (seconds > 0) throw rateLimitError(seconds);
        await requireReady(deps, guards);
        requireKnownHost(deps, request);
      },
      addressOf: (request) => networkOf(addressOf(request)),
      authenticate: async (token) => {
        await guards.cacheSync.untilFresh();
        if (isKeySecret(token)) return await authenticateKey(token, { now: deps.now() }, authenticator);
        return tokens.verifyCached(token) ?? tokens.verify(token);
      },
      authenticateCookie: (cookie, request) =>
        authenticateCookie({ cookie, appHost: at(request).appHost }, authenticator),
      requireOwn: (request, place) =>
        void requireOwnRoute(at(request).appHost, { path: realtimePath }, { ...place }),
      requireApp: async ({ workspace, app }) => {
        const { app: found } = await findTarget(definitions, { workspace, app });
        if (found === undefined) return;
        deps.activity.request(found);
        await deps.quotas.request(found);
      },
      maxStreams: (workspace) => quotaLimit(deps.policies, 'quota.streams', { workspace }),
      allowedOrigins: deps.allowedOrigins,
      cookieName: (request) => cookieName(at(request), 'at'),
      onResponse: (request, { status, principal }) => {
        const upgrade = { method: 'GET', ...upgrades.get(request) };
        logRequest(deps, upgrade, { route: realtimePath, principal }, status);
      },
    },
  });
}

/** Throws `400 validation`, or `404 not_found` for a name of no app. */
function requireKnownHost({ hosts }: Pick<Deps, 'hosts'>, { headersDistinct }: IncomingMessage): void {
  const [host = '', ...others] = headersDistinct['host'] ?? [];
  if (host === '' || others.length > 0) fail('validation', 'Host: is required once');
  const meaning = hosts.meaningOf(host);
  if (meaning === 'foreign') fail('validation', unknownHost);
  if (meaning === 'no_app') fail('not_found', noAppHost);
}

/** The id and the time of an upgrade request. */
interface Upgrade {
  requestId: string;
  now: Date;
}

/** Keeps the id and the time of each upgrade request, which are determined once. */
class Upgrades {
  readonly #deps: Pick<Deps, 'now'>;
  readonly #known = new WeakMap<IncomingMessage, Upgrade>();

  constructor(deps: Pick<Deps, 'now'>) {
    this.#deps = deps;
  }

  get(request: IncomingMessage): Upgrade {
    let upgrade = this.#known.get(request);
    if (upgrade === undefined) {
      upgrade = { requestId: requestIdOf(request), now: this.#deps.now() };
      this.#known.set(request, upgrade);
    }
    return upgrade;
  }
}
