// Topics: the collections that clients can subscribe to.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';

/** The ids of an app and its workspace. */
export interface AppPath {
  workspace: string;
  app: string;
}

/** A collection whose events are published and subscribed to. */
export interface Topic extends AppPath {
  collection: string;
}

/** A topic that differs from those of earlier collections of the same name. */
export interface ExactTopic extends Topic {
  /**
   * The database, the schema and the time of the collection's creation. A workspace, app or collection can be created again
   * under its name, and must not show events of its predecessor.
   */
  incarnation: string;
}

/** The exact topic of a collection. */
export function exactTopic(
  { workspace, id, schema }: AppDefinition,
  collection: CollectionDefinition,
): ExactTopic {
  const { database } = workspace;
  const incarnation = `${database}/${schema}/${collection.id}/${collection.created_at.getTime()}`;
  return { workspace: workspace.id, app: id, collection: collection.id, incarnation };
}

/** The topic as one string. Ids cannot contain a slash. */
export function topicKey({ workspace, app, collection }: Topic): string {
  return `${workspace}/${app}/${collection}`;
}
