// A small server with a hub behind both protocols, whose rules, tokens and clock the test holds.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fail, toApiError } from '../../../api/errors.ts';
import type { Bounds } from '../../../api/realtime/bounds.ts';
import { InProcessBroker } from '../../../api/realtime/broker.ts';
import type { ChangeType } from '../../../api/realtime/event.ts';
import { Hub } from '../../../api/realtime/hub.ts';
import type { AuthorizedView, RealtimeGate, SubscribeRequest } from '../../../api/realtime/ports.ts';
import { serveEvents } from '../../../api/realtime/delivery/sse.ts';
import type { AppPath } from '../../../api/realtime/topic.ts';
import type { UpgradePorts } from '../../../api/realtime/websocket/upgrade.ts';
import { type SocketBounds, WebSockets } from '../../../api/realtime/websocket/websocket.ts';
import type { Principal } from '../../../api/scope.ts';

/** Where the rig's collections are. */
export const place: AppPath = { workspace: 'acme', app: 'shop' };

/** An end-user of the rig whose token is their name. */
function user(id: string): Principal {
  return { role: 'user', id, workspace: place.workspace, jti: id, issuedAt: 0, expiresAt: 1_000 };
}

/** Rules and tokens that a test can change while streams are open. */
export class TestGate implements RealtimeGate {
  /** The rule of every collection. */
  rule: (wish: SubscribeRequest) => AuthorizedView | Promise<AuthorizedView> = ({ filter = '' }) =>
    this.view(filter, () => true);
  incarnation = '1';
  readonly expired = new Set<string>();
  readonly revoked = new Set<string>();
  readonly #looks: (() => void)[] = [];
  readonly #listeners = new Set<(place: { workspace: string; app?: string }) => void>();

  view(key: string, passes: AuthorizedView['passes']): AuthorizedView {
    return { key, passes, incarnation: this.incarnation };
  }

  /** The rule `owner = @request.auth.id`. */
  ownersOnly(): void {
    this.rule = ({ principal }) => {
      if (principal === null) fail('unauthorized', 'this needs an access token');
      return this.view(principal.id, ({ record }) => record.owner === principal.id);
    };
  }

  authorize(wish: SubscribeRequest): AuthorizedView | Promise<AuthorizedView> {
    return this.rule(wish);
  }

  async facts(wish: SubscribeRequest): Promise<string | undefined> {
    return (await this.rule(wish)).facts;
  }

  tokenState({ jti }: Principal): 'good' | 'expired' | 'revoked' {
    this.#looks.shift()?.();
    return this.expired.has(jti) ? 'expired' : this.revoked.has(jti) ? 'revoked' : 'good';
  }

  onDefinitionChange(listener: (place: { workspace: string; app?: string }) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once one open stream with a principal has been looked at twice; with several, call it more often. */
  async swept(): Promise<void> {
    for (let looks = 0; looks < 2; looks++) await new Promise<void>((resolve) => this.#looks.push(resolve));
  }

  /** A definition has changed. */
  changed(where: { workspace: string; app?: string } = place): void {
    for (const listener of this.#listeners) listener(where);
  }
}

/** What a rig may be made with. */
export interface RigOptions {
  bounds?: Partial<Bounds>;
  sockets?: Partial<SocketBounds>;
}

/** A running rig. */
export interface Rig {
  port: number;
  server: Server;
  hub: Hub;
  gate: TestGate;
  /** Milliseconds; the hub's clock stands still unless a test moves it. */
  clock: { now: number };
  /** The server's ends of all connections, in the order in which they were made. */
  connections: Socket[];
  /** Failures that no client was told about. */
  reports: string[];
  /** Publishes a change of the collection `orders` as a writer would. */
  write(record: Readonly<Record<string, unknown>>, type?: ChangeType, collection?: string): void;
  close(): Promise<void>;
}

function authenticate(token: string): Principal {
  if (token === 'bad') fail('unauthorized', 'the access token is not valid');
  if (token === 'unknown') fail('unavailable', 'the database is away');
  if (token === 'neighbour') return { ...user('neighbour'), apps: ['another'] };
  return token === 'stranger' ? { ...user('stranger'), workspace: 'elsewhere' } : user(token);
}

/** The event streams, as a route would serve them. */
function eventServer(hub: Hub): Server {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://rig');
    const bearer = request.headers.authorization?.slice('Bearer '.length);
    const lastEventId = request.headers['last-event-id'];
    // A collection of the rig's app, unless another app stands before it.
    const [collection = '', app = place.app] = pathname.slice(1).split('/').reverse();
    serveEvents(hub, {
      response,
      topic: { ...place, app, collection },
      holder: {
        principal: bearer === undefined ? null : authenticate(bearer),
        address: String(request.headers['x-forwarded-for'] ?? '127.0.0.1'),
        query: {},
      },
      filter: searchParams.get('filter') ?? undefined,
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      headers: [['X-Standing', 'yes']],
    }).catch((error) => {
      const { status, code, message, headers } = toApiError(error);
      response.writeHead(status, Object.fromEntries(headers)).end(JSON.stringify({ code, message }));
    });
  });
}

const upgradePorts: UpgradePorts = {
  admit: (request) => {
    if (request.headers['x-forwarded-for'] === 'limited') fail('too_many_requests', 'too fast');
  },
  requireOwn: () => undefined,
  addressOf: () => '127.0.0.1',
  authenticate,
  authenticateCookie: authenticate,
  requireApp: ({ app }) => app === place.app ? undefined : fail('app_not_found', 'no such app'),
  maxStreams: () => Promise.resolve(undefined),
  allowedOrigins: {
    rightsAt: (origin) => origin === 'https://friend.example' ? 'cookies' : 'none',
    allowsCookieOf: (_workspace, origin) => origin === 'https://friend.example',
  },
  cookieName: () => 'svc_at',
};

/** Starts a rig on a free port. */
export async function startRig({ bounds, sockets }: RigOptions = {}): Promise<Rig> {
  const gate = new TestGate();
  const clock = { now: 1_000_000 };
  const reports: string[] = [];
  const report = (task: string, error: unknown) => reports.push(`${task}: ${error}`);
  const hub = new Hub({
    broker: new InProcessBroker((error) => report('listen', error)),
    gate,
    report,
    now: () => clock.now,
    cursorKey: randomBytes(16),
    bounds: { sweepMs: 10, ...bounds },
  });
  const server = eventServer(hub);
  const headersFor = () => [['X-Standing', 'yes']] as const;
  new WebSockets({
    hub,
    ports: upgradePorts,
    report,
    headersFor,
    ...(sockets === undefined ? {} : { bounds: sockets }),
  }).mount(server);
  const connections: Socket[] = [];
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    server,
    hub,
    gate,
    clock,
    connections,
    reports,
    write: (record, type = 'record_created', collection = 'orders') =>
      hub.publish({ ...place, collection, incarnation: gate.incarnation }, { type, record }),
    async close() {
      await hub.close(1_000);
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
