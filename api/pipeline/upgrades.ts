// WebSockets pass the same door as every request: rate limit, setup, token, origin, headers, log line.
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { reportTo } from '../realtime/build.ts';
import { WebSockets } from '../realtime/websocket/websocket.ts';
import { findTarget } from '../target.ts';
import { authenticateCookie } from './authenticate.ts';
import { clientAddressOf, headerOf, requestIdOf } from '../http/request-info.ts';
import { defaultHeaders, type RequestGuards } from './guards.ts';
import { requireReady } from './setup-gate.ts';
import { networkOf } from '../http/client-network.ts';

/** The WebSockets of one process. */
export function createWebSockets(deps: Deps, door: RequestGuards): WebSockets {
  const { config, definitions, tokens, realtime } = deps;
  const arrivals = new Arrivals(deps);
  return new WebSockets({
    hub: realtime,
    report: reportTo(deps),
    headersFor: (request) =>
      defaultHeaders(door, { requestId: arrivals.of(request).id, origin: headerOf(request, 'origin') }),
    ports: {
      admit: async (request) => {
        const { now } = arrivals.of(request);
        door.limit(clientAddressOf(request, config.http.trust_proxy), now.getTime());
        await requireReady(deps, door);
        if (request.headersDistinct['host']?.length !== 1) fail('validation', 'Host: is required once');
      },
      addressOf: (request) => networkOf(clientAddressOf(request, config.http.trust_proxy)),
      authenticate: async (token) => {
        await door.cacheSync.untilFresh();
        return tokens.verifyCached(token) ?? tokens.verify(token);
      },
      authenticateCookie: (token) => authenticateCookie(token, door.authenticator),
      requireApp: async ({ workspace, app }) => {
        const { app: found } = await findTarget(definitions, { workspace, app });
        if (found === undefined) return;
        deps.activity.request(found);
        await deps.quotas.request(found);
      },
      allowsOrigin: (origin) => door.cors.allows(origin),
      cookieName: `${config.http.cookie_prefix}_at`,
      onResponse: (request, { status, principal }) => {
        const { id, now } = arrivals.of(request);
        deps.observe({
          type: 'request_done',
          method: 'GET',
          route: '/api/workspaces/:workspace/apps/:app/realtime',
          status,
          ms: deps.now().getTime() - now.getTime(),
          request_id: id,
          principal: principal?.role ?? 'none',
          workspace: principal?.workspace,
        });
      },
    },
  });
}

/** Id and time of each upgrade request, read once. */
class Arrivals {
  readonly #deps: Pick<Deps, 'now'>;
  readonly #known = new WeakMap<IncomingMessage, { id: string; now: Date }>();

  constructor(deps: Pick<Deps, 'now'>) {
    this.#deps = deps;
  }

  of(request: IncomingMessage): { id: string; now: Date } {
    let arrival = this.#known.get(request);
    if (arrival === undefined) {
      arrival = { id: requestIdOf(request), now: this.#deps.now() };
      this.#known.set(request, arrival);
    }
    return arrival;
  }
}
