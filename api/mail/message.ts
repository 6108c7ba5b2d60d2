// What features hand to the mail: which letter, to whom, with which values.

/** The letters that the server writes. */
export type MessageKind = 'verify-email' | 'password-reset' | 'email-change' | 'email-changed' | 'otp';

/** A letter to be sent. */
export interface ServerMessage {
  /** Id of the workspace that it is about. */
  workspace: string;
  kind: MessageKind;
  /** One address. */
  to: string;
  /** The token or code, which stands alone on its own line; null in a letter that only tells something. */
  secret: string | null;
  /** How long the secret is good for, and the letter worth sending. */
  lifeSeconds: number;
  /** Goes through the queue like every other, and then to nobody: asking takes as long for an unknown address. */
  discard: boolean;
}

/** A letter in an app's own words. Waits behind those of the server. */
export interface AppMessage {
  /** Id of the workspace that the app is in. */
  workspace: string;
  /** One address. */
  to: string;
  content: MessageContent;
  lifeSeconds: number;
}

/** What a letter says. */
export interface MessageContent {
  /** One line. */
  subject: string;
  text: string;
  html?: string | undefined;
}

/** The way out for letters. */
export interface MailQueue {
  /** Stores a letter, to be sent in the background. Throws `StorageError`; `429` when too many of the workspace's apps wait. */
  enqueue(letter: ServerMessage | AppMessage): Promise<void>;
}
