// What realtime asks of the rest of the server: access rules, tokens, definitions. Filled in where the API is put together.
import type { Principal } from '../scope.ts';
import type { RecordChange } from './event.ts';
import type { Related, RelatedQuery } from './visibility/related-reads.ts';
import type { AppPath, ExactTopic, Topic } from './topic.ts';

/** Who holds a stream. */
export interface StreamHolder {
  principal: Principal | null;
  /** The client's address as limits count it (an IPv6 customer is a /64). */
  address: string;
  /** The parameters that the stream was opened with, but for its filter. */
  query: Readonly<Record<string, string>>;
}

/** What a subscriber asked for. */
export interface SubscribeRequest {
  topic: Topic;
  principal: Principal | null;
  query: StreamHolder['query'];
  filter: string | undefined;
}

/** A wish that was granted: which changes its subscriber may see. */
export interface AuthorizedView {
  /**
   * Wishes with the same key see the same: the `list` rule, the filter, and whatever of the principal and the query they read.
   * For a rule that reads nothing of them the key must not name them, so that all its subscribers share one evaluation.
   */
  key: string;
  /** Of the collection: see `ExactTopic`. */
  incarnation: string;
  /** The related records that it looks at; undefined when it looks at none. */
  related?: RelatedQuery | undefined;
  /** Called once for each key and change. When it throws, the subscriptions with this key end and no others. */
  passes(change: RecordChange, related: Related): boolean;
}

/** What is left of a token. */
export type TokenState = 'good' | 'expired' | 'revoked';

/**
 * Another look at subscriptions of an app, none of which has been added since it began: what is found out for one in its
 * course is new enough for all of them.
 */
export interface Reauthorization {
  /** Who is still to be looked at; somebody with several subscriptions comes several times. */
  callers(): Iterable<Principal>;
}

/** Decides who may see what. */
export interface RealtimeGate {
  /** The view of a wish by the rules as they are now. Throws `ApiError`: 401, 403, 404, or 400 for the filter. */
  authorize(wish: SubscribeRequest, review?: Reauthorization): AuthorizedView | Promise<AuthorizedView>;
  /** Asked of each stream's principal once a second, so it must be quick. A principal that lost the app is `revoked`. */
  tokenState(principal: Principal, place: AppPath): TokenState;
  /** Tells of rules, collections, apps and workspaces that changed or went. */
  onDefinitionChange(listener: (place: ChangeScope) => void): () => void;
}

/** Where definitions changed: without `app` in every app of the workspace, without `workspace` anywhere. */
export interface ChangeScope {
  workspace?: string;
  app?: string;
}

/** Tells the world of committed writes. `Hub` is one. */
export interface Publisher {
  /** Never throws, never waits. */
  publish(topic: ExactTopic, change: RecordChange): void;
}

/** Hears of failures that no client is told about. */
export type Report = (task: string, error: unknown) => void;
