// The one error that is meant for the operator.

/** A start that trying again cannot help. The message is one line: what is wrong, where, and what to do. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
