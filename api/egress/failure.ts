// The ways in which a request to another server fails.

/** The reason of a failure. */
export type EgressFailure =
  | 'refused' // the URL, the method or the address of the host is not permitted
  | 'redirected' // the response redirects to another host
  | 'unreachable' // there is no connection, or it broke
  | 'timeout' // the time is over
  | 'too_large' // the response is longer than the caller allows
  | 'aborted'; // the caller aborted the request

/** A request without a response. The message holds no secret, and nothing of a private network. */
export class EgressError extends Error {
  readonly failure: EgressFailure;

  constructor(failure: EgressFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'EgressError';
    this.failure = failure;
  }
}

/** Creates the error for an address that may not be reached. */
export function addressRefused(): EgressError {
  return new EgressError('refused', 'the host is in a network that may not be reached');
}
