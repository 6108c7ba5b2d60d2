// Asks things of the control group of a workspace for as long as the kernel lets that be done.
import type { WorkspaceGroup } from './workspace-group.ts';

/** The group of one workspace, or none: then every question has the answer undefined. */
export class KernelHold {
  readonly #onLost: (error: unknown) => void;
  #group: WorkspaceGroup | undefined;

  /** `onLost` is called with what the kernel refused; from then on, there is no group. */
  constructor(group: WorkspaceGroup | undefined, onLost: (error: unknown) => void) {
    this.#group = group;
    this.#onLost = onLost;
  }

  /** Asks one thing of the group. Undefined without one. */
  ask<Result>(question: (group: WorkspaceGroup) => Result): Result | undefined {
    if (this.#group === undefined) return undefined;
    try {
      return question(this.#group);
    } catch (error) {
      this.#group = undefined;
      this.#onLost(error);
      return undefined;
    }
  }
}
