// The error of a start that cannot succeed by trying again.

/** Refuses the start. The message is one line for the operator. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartRefused';
  }
}
