// How commands that call a server fail: the message, and the exit code of each kind of failure.

/** Exit codes of the program. docs/reference/command-line.md explains them. */
const exitCodes = {
  /** The command line, a file or the request is wrong, or the server refuses it. */
  refused: 1,
  /** Nobody is signed in, or whoever is may not do that. */
  unauthorized: 3,
  /** The server does not respond, or cannot do it now: trying again may help. */
  unavailable: 4,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

/** The kinds of failure. */
export type FailureKind = keyof typeof exitCodes;

/** A failure that the user can mend. The message says what is wrong and what to do. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
  readonly exitCode: number;
  /** The code of the server's error, or the kind of failure. */
  readonly code: string;

  constructor(kind: FailureKind, message: string, code: string = kind) {
    super(message);
    this.exitCode = exitCodes[kind];
    this.code = code;
  }
}
