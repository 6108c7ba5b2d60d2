// The session of one WebSocket client: handles its messages in the order of their arrival.
import { ApiError, fail, toApiError } from '../../errors.ts';
import { decideScope, type Principal } from '../../scope.ts';
import type { Hub } from '../hub.ts';
import type { MessageRate } from './message-rate.ts';
import * as messages from './messages.ts';
import type { Report } from '../ports.ts';
import type { StreamClaim } from '../stream-quota.ts';
import type { Stream } from '../stream.ts';

/** The connection and limits of a session. */
export interface SessionOptions {
  hub: Hub;
  stream: Stream;
  claim: StreamClaim;
  rate: MessageRate;
  /** Subscriptions that one connection may hold. */
  maxSubscriptions: number;
  /** The principal of an access token. Throws `401 unauthorized`. */
  authenticate: (token: string) => Principal | Promise<Principal>;
  report: Report;
}

/** Characters of messages that may wait while the one before them is handled. */
const maxWaitingCharacters = 1_048_576;

/** Messages that a client may send before it learns that the stream has ended. */
const maxMessagesAfterEnd = 1_000;

/** Handles the messages of one client. */
export class SocketSession {
  readonly #options: SessionOptions;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #messagesAfterEnd = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Handles a text message; undefined stands for a binary one. */
  receive(message: string | undefined): void {
    if (!this.#admits()) return;
    const length = message?.length ?? 0;
    if (this.#waiting + length > maxWaitingCharacters) {
      return this.#refuse('too many messages that have no response yet');
    }
    this.#waiting += length;
    this.#last = this.#last.then(() => this.#respond(message)).then(() => {
      this.#waiting -= length;
    });
  }

  /** Counts a protocol frame, such as a ping, against the rate limit. */
  count(): void {
    this.#admits();
  }

  /** Must be called when the connection has closed. */
  closed(): void {
    this.#options.stream.closed();
  }

  #admits(): boolean {
    const { stream, rate, hub } = this.#options;
    if (!stream.isOpen) {
      this.#messagesAfterEnd++;
      if (this.#messagesAfterEnd > maxMessagesAfterEnd) stream.cut();
      return false;
    }
    if (rate.admit(hub.now())) return true;
    this.#refuse('too many messages');
    return false;
  }

  async #respond(message: string | undefined): Promise<void> {
    const { stream, rate, hub, report } = this.#options;
    if (!stream.isOpen) return;
    let name: string | undefined;
    try {
      const value = messages.parseMessage(message ?? '');
      name = messages.subscriptionIdIn(value);
      await this.#act(messages.checkMessage(value));
    } catch (error) {
      if (!(error instanceof ApiError)) report('respond to a WebSocket message', error);
      const refusal = toApiError(error);
      stream.write([messages.errorMessage(name, refusal)]);
      const isGarbage = refusal.code === 'deserialization' || refusal.code === 'validation';
      if (isGarbage && !rate.admitGarbage(hub.now())) this.#refuse('too many messages that say nothing');
    }
  }

  async #act(message: messages.ClientMessage): Promise<void> {
    const { stream } = this.#options;
    switch (message.type) {
      case 'auth':
        return this.#signIn(message.token);
      case 'subscribe':
        return this.#subscribe(message);
      case 'unsubscribe':
        return this.#unsubscribe(message.id);
      case 'ping':
        return stream.write([messages.pong()]);
    }
  }

  /** Replaces the token, and re-authorizes the subscriptions under the new principal. */
  async #signIn(token: string): Promise<void> {
    const { hub, stream, claim, authenticate } = this.#options;
    let principal: Principal;
    try {
      principal = await authenticate(token);
    } catch (error) {
      const refusal = toApiError(error);
      if (refusal.code !== 'unauthorized') throw error;
      stream.write([messages.errorMessage(undefined, refusal)]);
      return stream.end({ why: 'unauthorized', message: refusal.message }, hub.now());
    }
    if (decideScope('member', principal, stream.place) !== 'allow') {
      stream.write([
        messages.errorMessage(undefined, new ApiError('forbidden', 'this token does not allow that')),
      ]);
      return this.#refuse('the token is for another place');
    }
    claim.move(principal);
    stream.holder = { ...stream.holder, principal };
    hub.reauthorize(stream);
  }

  async #subscribe(
    { id, collection, filter, since }: Extract<messages.ClientMessage, { type: 'subscribe' }>,
  ): Promise<void> {
    const { hub, stream, claim, maxSubscriptions } = this.#options;
    if (stream.subscriptions.has(id)) fail('conflict', 'this connection has a subscription of this id');
    if (stream.subscriptions.size >= maxSubscriptions) {
      fail('too_many_requests', `a connection holds at most ${maxSubscriptions} subscriptions`);
    }
    // A subscription costs as much as a stream, so it counts as one.
    const release = claim.add(filter);
    try {
      const authorization = await hub.authorize({
        topic: { ...stream.place, collection },
        ...stream.holder,
        filter,
      });
      hub.subscribe(
        stream,
        { id, collection, filter, since, authorization, onLeft: release },
        (cursor) => stream.write([messages.subscribed(id, cursor)]),
      );
    } catch (error) {
      release();
      throw error;
    }
  }

  #unsubscribe(id: string): void {
    const { stream } = this.#options;
    const member = stream.subscriptions.get(id) ??
      fail('not_found', 'this connection has no such subscription');
    member.leave();
    stream.subscriptions.delete(id);
  }

  #refuse(reason: string): void {
    const { stream, hub } = this.#options;
    stream.end({ why: 'policy', message: reason }, hub.now());
  }
}
