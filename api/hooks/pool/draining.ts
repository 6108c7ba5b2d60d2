// Runners of an app that only end what they have under way: a few at once, and none for long.
import type { Generation } from './generation.ts';

/** Streams without an end, kept open over reloads, would pile up processes until no other app can have one. */
const maxGenerations = 4;
const maxDrainMs = 30_000;

/** The old generations of one app. */
export class DrainingGenerations {
  readonly #generations = new Set<Generation>();

  /** Lets one end what it has begun; one that began to leave long ago is closed in its favour. */
  add(generation: Generation): void {
    generation.drain();
    if (!generation.channel.isOpen) return;
    this.#generations.add(generation);
    const late = setTimeout(() => generation.close(), maxDrainMs);
    void generation.exited.then(() => {
      clearTimeout(late);
      this.#generations.delete(generation);
    });
    const [oldest] = this.#generations;
    if (this.#generations.size <= maxGenerations || oldest === undefined) return;
    this.#generations.delete(oldest);
    oldest.close();
  }

  /** Closes all of them at once; what is under way fails. */
  close(): void {
    for (const generation of this.#generations) generation.close();
  }
}
