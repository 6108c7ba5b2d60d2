// The error whose message is for the operator.

/** A start that fails and would fail again. The message is one line: what is wrong, where, and what to do. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
