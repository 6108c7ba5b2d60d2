// How many calls of hooks there are at once over all apps of this process, and whose turn is next.

const mostAtOnce = 256;
/** So that no workspace, whatever it does, has others wait for its hooks alone. */
const mostOfWorkspace = 128;
/** Answers that stream on after their turn. */
const mostStreams = 512;
const mostStreamsOfWorkspace = 128;

interface Party {
  running: number;
  streams: number;
  waiting: (() => void)[];
}

/** The places of one process. Who has fewest of them is next, and among those who has waited longest. */
export class Crowd {
  readonly #parties = new Map<string, Party>();
  #running = 0;
  #streams = 0;

  /** Takes a place for a workspace at once, or a promise of one. Each is given back with `give`. */
  take(workspace: string): void | Promise<void> {
    const party = this.#partyOf(workspace);
    if (this.#running < mostAtOnce && party.running < mostOfWorkspace) return this.#admit(party);
    return new Promise((resolve) => {
      // It goes behind those who wait already.
      if (party.waiting.length === 0) {
        this.#parties.delete(workspace);
        this.#parties.set(workspace, party);
      }
      party.waiting.push(resolve);
    });
  }

  /** Gives a place of a workspace back. */
  give(workspace: string): void {
    const party = this.#partyOf(workspace);
    party.running--;
    this.#running--;
    this.#next();
    this.#tidy(workspace, party);
  }

  /** Takes a place for an answer that streams, to be given back with `endStream`; false when there is none. */
  stream(workspace: string): boolean {
    const party = this.#partyOf(workspace);
    if (this.#streams >= mostStreams || party.streams >= mostStreamsOfWorkspace) return false;
    party.streams++;
    this.#streams++;
    return true;
  }

  /** Gives such a place back. */
  endStream(workspace: string): void {
    const party = this.#partyOf(workspace);
    party.streams--;
    this.#streams--;
    this.#tidy(workspace, party);
  }

  #tidy(workspace: string, { running, streams, waiting }: Party): void {
    if (running === 0 && streams === 0 && waiting.length === 0) this.#parties.delete(workspace);
  }

  #next(): void {
    let next: Party | undefined;
    for (const party of this.#parties.values()) {
      if (party.waiting.length === 0 || party.running >= mostOfWorkspace) continue;
      if (next === undefined || party.running < next.running) next = party;
    }
    const resolve = next?.waiting.shift();
    if (next === undefined || resolve === undefined) return;
    this.#admit(next);
    resolve();
  }

  #admit(party: Party): void {
    party.running++;
    this.#running++;
  }

  #partyOf(workspace: string): Party {
    const known = this.#parties.get(workspace);
    if (known !== undefined) return known;
    const party = { running: 0, streams: 0, waiting: [] };
    this.#parties.set(workspace, party);
    return party;
  }
}
