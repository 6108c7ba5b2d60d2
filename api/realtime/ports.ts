// The ports of realtime to the rest of the server: access rules, tokens, definitions.
import type { Principal } from '../scope.ts';
import type { RecordChange } from './event.ts';
import type { Related, RelatedQuery } from './visibility/related-reads.ts';
import type { AppPath, ExactTopic, Topic } from './topic.ts';

/** The client of a stream. */
export interface StreamHolder {
  principal: Principal | null;
  /** The client's address as limits count it (an IPv6 customer is a /64). */
  address: string;
  /** The query parameters of the request that opened the stream, without the filter. */
  query: Readonly<Record<string, string>>;
  /** The workspace whose events it hears, which all streams of it in this process count for. */
  workspace?: WorkspaceStreams;
}

/** The streams that a workspace may have in this process. */
export interface WorkspaceStreams {
  id: string;
  /** Policy `quota.streams`; undefined without a limit. */
  max: number | undefined;
}

/** A request to subscribe to a collection. */
export interface SubscribeRequest {
  topic: Topic;
  principal: Principal | null;
  query: StreamHolder['query'];
  filter: string | undefined;
}

/** The changes that a subscriber may see. */
export interface AuthorizedView {
  /**
   * Views with the same key pass the same changes. It names the rule, the filter, and what both read of the principal and
   * the query, but nothing else of these, so that as many subscribers as possible share one evaluation.
   */
  key: string;
  /** The incarnation of the collection: see `ExactTopic`. */
  incarnation: string;
  /** The related records that the view reads; undefined when it reads none. */
  related?: RelatedQuery | undefined;
  /** What was looked up of the caller for it, as text; undefined when that was nothing. Not the same for all with its key. */
  facts?: string | undefined;
  /** True when the change may be seen. Called once for each key and change. When it throws, the subscriptions with this key end. */
  passes(change: RecordChange, related: Related): boolean;
}

/** The state of a token. */
export type TokenState = 'good' | 'expired' | 'revoked';

/**
 * A run of re-authorizations of the subscriptions of an app. None was added since it began, so what is read for one of them
 * is new enough for all.
 */
export interface Reauthorization {
  /** The principals of the remaining subscriptions, once for each subscription. */
  callers(): Iterable<Principal>;
}

/** Decides which changes a subscriber may see, and how long its token is valid. */
export interface RealtimeGate {
  /** The view of a request by the current rules. Throws `ApiError`: 401, 403, 404, or 400 for the filter. */
  authorize(
    request: SubscribeRequest,
    reauthorization?: Reauthorization,
  ): AuthorizedView | Promise<AuthorizedView>;
  /** The `facts` of the view that `authorize` would return. Throws as it does. */
  facts(request: SubscribeRequest, reauthorization: Reauthorization): Promise<string | undefined>;
  /** The state of a token, checked once a second for each stream. It is `revoked` when it no longer covers the app. */
  tokenState(principal: Principal, place: AppPath): TokenState;
  /** Calls the listener when rules, collections, apps or workspaces change or are deleted. */
  onDefinitionChange(listener: (place: ChangeScope) => void): () => void;
}

/** The scope of a change of definitions: without `app` the whole workspace, without `workspace` everything. */
export interface ChangeScope {
  workspace?: string;
  app?: string;
}

/** Publishes committed writes. */
export interface Publisher {
  /** Never throws, never waits. */
  publish(topic: ExactTopic, change: RecordChange): void;
}

/** Publishes that records were written of which no events are published. */
export interface BulkPublisher {
  /** Never throws, never waits. */
  reset(topic: ExactTopic): void;
}

/** Reports a failure that no client sees. */
export type Report = (task: string, error: unknown) => void;
