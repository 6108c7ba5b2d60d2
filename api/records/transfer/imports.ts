// The imports that are under way in one process: one in each workspace.
import { fail } from '../../errors.ts';
import { keepHeapSmall } from '../../process/v8-flags.ts';

/** Admits one import of a workspace at a time. */
export class Imports {
  readonly #workspaces = new Set<string>();

  /** Runs an import. Throws what it throws, and `429 too_many_requests` while another one of the workspace runs. */
  async run<Result>(workspace: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#workspaces.has(workspace)) {
      fail('too_many_requests', 'another import of the workspace is under way', [['Retry-After', '5']]);
    }
    if (this.#workspaces.size === 0) keepHeapSmall(true);
    this.#workspaces.add(workspace);
    try {
      return await work();
    } finally {
      this.#workspaces.delete(workspace);
      if (this.#workspaces.size === 0) keepHeapSmall(false);
    }
  }
}
