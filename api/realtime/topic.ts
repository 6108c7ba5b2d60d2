// What can be watched: one collection of one app of one workspace.

/** An app, as realtime names it. */
export interface Place {
  workspace: string;
  app: string;
}

/** A collection whose events are published and subscribed to. */
export interface Topic extends Place {
  collection: string;
}

/** The topic as one string; no id of ours can hold a slash. */
export function topicKey({ workspace, app, collection }: Topic): string {
  return `${workspace}/${app}/${collection}`;
}
