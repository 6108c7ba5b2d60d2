// What can go wrong with a request to another server.

/** Why there is no answer. */
export type EgressFailure =
  | 'refused' // the URL, the method or the address behind the host is not permitted
  | 'redirected' // the answer leads to another host
  | 'unreachable' // no connection, or one that broke
  | 'timeout' // the time was over
  | 'too_large' // the answer is longer than was asked for
  | 'aborted'; // the caller's signal

/** A request that has no answer. The message holds no secret, and nothing of a private network. */
export class EgressError extends Error {
  readonly failure: EgressFailure;

  constructor(failure: EgressFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'EgressError';
    this.failure = failure;
  }
}

/** The failure for an address behind the wall. */
export function addressRefused(): EgressError {
  return new EgressError('refused', 'the host is in a network that may not be reached');
}
