// The messages that features hand to the mail queue, and the queue as they see it.

/** The messages that the server writes. */
export type MessageKind =
  | 'verify-email'
  | 'password-reset'
  | 'password-changed'
  | 'email-change'
  | 'email-changed'
  | 'otp'
  | 'invite';

/** A message of the server, written from a template. */
export interface ServerMessage {
  /** Id of the workspace that the message is about. */
  workspace: string;
  kind: MessageKind;
  /** One address. */
  to: string;
  /** The present address of the account that the message is about, if that is not `to`. */
  account?: string;
  /** The token or code, which stands alone on its own line; null in a message without one. */
  secret: string | null;
  /** How long the secret is valid, and the message worth sending. */
  lifeSeconds: number;
  /** True when the queue takes the message but sends it to nobody: a request for an unknown address takes as long. */
  discard: boolean;
}

/** A message in an app's own words. Those of the server go first. */
export interface AppMessage {
  /** Id of the workspace that the app is in. */
  workspace: string;
  /** One address. */
  to: string;
  content: MessageContent;
  lifeSeconds: number;
}

/** The subject and the bodies of a message. */
export interface MessageContent {
  /** One line. */
  subject: string;
  text: string;
  html?: string | undefined;
}

/** The queue of outgoing mail. */
export interface MailQueue {
  /**
   * Stores a message, which is sent in the background. Beyond what may wait of a workspace, it discards messages of the
   * server, and throws `429` for those of apps. Throws `StorageError`.
   */
  enqueue(message: ServerMessage | AppMessage): Promise<void>;
}
