// What can be watched: one collection of one app of one workspace.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';

/** An app, as realtime names it. */
export interface AppPath {
  workspace: string;
  app: string;
}

/** A collection whose events are published and subscribed to. */
export interface Topic extends AppPath {
  collection: string;
}

/** A topic of which the collection is told from earlier ones of the name. */
export interface ExactTopic extends Topic {
  /**
   * Names the database, the schema and the collection's creation: the workspace, the app or the collection may be made
   * anew, and nobody may be shown the past of another.
   */
  incarnation: string;
}

/** That of a collection of an app, as its definition is. */
export function exactTopic(
  { workspace, id, schema }: AppDefinition,
  collection: CollectionDefinition,
): ExactTopic {
  const { database } = workspace;
  const incarnation = `${database}/${schema}/${collection.id}/${collection.created_at.getTime()}`;
  return { workspace: workspace.id, app: id, collection: collection.id, incarnation };
}

/** The topic as one string; no id of ours can hold a slash. */
export function topicKey({ workspace, app, collection }: Topic): string {
  return `${workspace}/${app}/${collection}`;
}
