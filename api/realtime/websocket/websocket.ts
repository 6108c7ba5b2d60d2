// The WebSocket server: crossws opens, reads and closes the connections; events are written to their sockets directly.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Peer } from 'crossws';
import crossws, { type NodeAdapter } from 'crossws/adapters/node';
import { ApiError, toApiError } from '../../errors.ts';
import type { HeaderList } from '../../http/header-list.ts';
import { setServerOptions } from '../../http/node-internals.ts';
import type { Principal } from '../../scope.ts';
import type { Hub } from '../hub.ts';
import { type MessageBounds, MessageRate } from './message-rate.ts';
import { errorMessage, eventMessage, reset } from './messages.ts';
import type { Report } from '../ports.ts';
import type { StreamClaim } from '../stream-quota.ts';
import { SocketSession } from './socket-session.ts';
import type { StreamEnd, Wire } from '../stream.ts';
import {
  type Admission,
  admitUpgrade,
  isForRealtime,
  refuseUpgrade,
  responsesEnd,
  type UpgradePorts,
} from './upgrade.ts';

/** The limits of a WebSocket client. */
export interface SocketBounds {
  messages: MessageBounds;
  /** The size limit of a client's message; a longer one closes the connection (1009). */
  messageBytes: number;
  /** Subscriptions that one connection may hold. */
  subscriptions: number;
  /** A connection that does not respond to a protocol ping within this time is closed. */
  idleSeconds: number;
}

/** The bounds when none are given. */
const defaultSocketBounds: SocketBounds = {
  messages: { burst: 200, perSecond: 20, garbageCost: 10 },
  messageBytes: 65_536,
  subscriptions: 100,
  idleSeconds: 30,
};

interface WebSocketOptions {
  hub: Hub;
  ports: UpgradePorts;
  report: Report;
  /** Headers of every response of the server. */
  headersFor: (request: IncomingMessage) => HeaderList;
  bounds?: Partial<SocketBounds>;
}

/** An upgrade that crossws is handling. */
interface Ticket extends Admission {
  socket: Duplex;
  claim: StreamClaim;
  /** Headers of its response. */
  headers: Record<string, string>;
}

/** RFC 6455 section 7.4.1; 4000 to 4999 are for applications. */
const closeCodes: Record<StreamEnd['why'], number> = {
  unauthorized: 4401,
  policy: 1008,
  shutdown: 1001,
  done: 1000,
};

/**
 * The most frames of a message, and chunks of a frame. All are held until the end of the message, and each costs some
 * hundred bytes, however short it is. Options of the `ws` in crossws, which its types do not have.
 */
const pieceLimits = { maxFragments: 128, maxBufferedChunks: 1_024 };

/**
 * One message for each turn of the event loop: two megabytes of the shortest frames, which may come at once, would block
 * it for half a second. An option of `ws`, too.
 */
const oneAtATime = { allowSynchronousEvents: false };

/** The reason of a close frame has at most 123 bytes. */
const maxReason = 120;

/** Opens WebSockets and connects them to the hub. */
export class WebSockets {
  readonly #options: WebSocketOptions;
  readonly #bounds: SocketBounds;
  readonly #adapter: NodeAdapter;
  readonly #tickets = new WeakMap<object, Ticket>();
  readonly #sessions = new WeakMap<Peer, SocketSession>();

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#bounds = { ...defaultSocketBounds, ...options.bounds };
    this.#adapter = crossws({
      hooks: {
        upgrade: ({ context = {} }) => ({ headers: this.#tickets.get(context)?.headers ?? {} }),
        open: (peer) => this.#open(peer),
        message: (peer, message) =>
          this.#sessions.get(peer)?.receive(typeof message.rawData === 'string' ? message.text() : undefined),
        ping: (peer) => this.#sessions.get(peer)?.count(),
        pong: (peer) => this.#sessions.get(peer)?.count(),
        close: (peer) => this.#sessions.get(peer)?.closed(),
      },
      getNamespace: () => 'realtime',
      idleTimeout: this.#bounds.idleSeconds,
      serverOptions: {
        maxPayload: this.#bounds.messageBytes,
        ...pieceLimits,
        ...oneAtATime,
        clientTracking: false,
      },
    });
  }

  /** Handles the WebSocket requests of a server for the realtime path. Others stay ordinary requests. */
  mount(server: Server): void {
    // Node asks it for each request with an Upgrade header.
    setServerOptions(server, { shouldUpgradeCallback: isForRealtime });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.upgrade(request, socket, head);
    });
  }

  /** Opens a WebSocket, or responds with the error. Never throws. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { hub, ports, report, headersFor } = this.#options;
    const onError = () => socket.destroy();
    socket.on('error', onError);
    try {
      await responsesEnd(socket);
    } catch {
      // A response here would be written into another response.
      socket.destroy();
      return;
    }
    let claim: StreamClaim | undefined;
    let principal: Principal | null = null;
    try {
      const admission = await admitUpgrade(request, ports);
      principal = admission.holder.principal;
      if (socket.destroyed) return;
      claim = hub.claimStream(admission.holder);
      // The only object that crossws passes on to the opened peer.
      const context = {};
      const headers = Object.fromEntries(headersFor(request));
      this.#tickets.set(context, { ...admission, socket, claim, headers });
      socket.once('close', claim.release);
      // No subprotocol is ever chosen, and crossws would refuse a malformed list with a response of its own.
      delete request.headers['sec-websocket-protocol'];
      const handle = Object.assign(new Request('http://realtime/'), { context });
      await this.#adapter.handleUpgrade(request, socket, head, handle);
      ports.onResponse?.(request, { status: 101, principal });
    } catch (error) {
      claim?.release();
      if (!(error instanceof ApiError)) report('open a WebSocket', error);
      const refusal = toApiError(error);
      refuseUpgrade(socket, refusal, headersFor(request));
      ports.onResponse?.(request, { status: refusal.status, principal });
    }
  }

  #open(peer: Peer): void {
    const ticket = this.#tickets.get(peer.context);
    if (ticket === undefined) return peer.terminate();
    const { hub, report, ports } = this.#options;
    const { socket, place, holder, claim } = ticket;
    const stream = hub.attach(socket, { place, holder, claim, wire: wireOf(peer) });
    const session = new SocketSession({
      hub,
      stream,
      claim,
      rate: new MessageRate(this.#bounds.messages, hub.now()),
      maxSubscriptions: this.#bounds.subscriptions,
      authenticate: ports.authenticate,
      report,
    });
    this.#sessions.set(peer, session);
  }
}

function wireOf(peer: Peer): Wire {
  return {
    isSingle: false,
    // crossws sends protocol pings.
    ping: undefined,
    // Written past crossws to the socket. Nothing is compressed, so the frames of both do not mix.
    events: (packet, id) => packet.variant(id, (event) => eventMessage(id, event)),
    reset,
    failed: () => undefined,
    lost: errorMessage,
    close: ({ why, message }) => peer.close(closeCodes[why], message.slice(0, maxReason)),
  };
}
