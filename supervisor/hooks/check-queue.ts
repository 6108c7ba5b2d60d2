// Whose files are checked next: one check runs at a time, and no workspace can keep the others waiting.
import type { AppName } from './crash-history.ts';

/** How long a check is waited for, from when it is asked for: as long as the API waits. Milliseconds. */
export const checkTimeoutMs = 5_000;
/** So much more than one that waits may a workspace have had: more than one check of what is usual. Milliseconds. */
const lead = 1_000;
/** The past time of a workspace decays by this share of the time that passes; anything beyond ten minutes of that, at once. */
const forgottenShare = 0.1;
const mostSpent = 60_000;

interface Waiting<Item> extends AppName {
  item: Item;
  /** Nobody waits for it from then on. */
  until: number;
  /** It has made room before. For it none is made: where all checks are slow, none would ever end. */
  isAgain: boolean;
}

/** A check whose turn it is. */
export interface Turn<Item> extends AppName {
  item: Item;
  /** Milliseconds that it has; none or less when it has waited too long. */
  left: number;
}

/** The line of checks. An app is in it once: a newer state of its files takes the place of an older one. */
export class CheckQueue<Item> {
  readonly #now: () => number;
  readonly #waiting = new Map<string, Waiting<Item>>();
  readonly #spent = new Map<string, { milliseconds: number; at: number }>();
  #current: (Waiting<Item> & { since: number }) | undefined;
  #closed = false;

  /** `now` in milliseconds, of any origin. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Puts an app in line and returns what it had in line before. */
  add(app: AppName, item: Item): Item | undefined {
    if (this.#closed) return undefined;
    const key = keyOf(app);
    const older = this.#waiting.get(key);
    this.#waiting.set(key, { ...app, item, until: this.#now() + checkTimeoutMs, isAgain: false });
    return older?.item;
  }

  /** Begins the next: that of the workspace which has had least, and of those the first. */
  take(): Turn<Item> | undefined {
    const first = this.#first(() => true);
    if (first === undefined) return undefined;
    const now = this.#now();
    this.#waiting.delete(keyOf(first));
    this.#current = { ...first, since: now };
    return { workspace: first.workspace, app: first.app, item: first.item, left: first.until - now };
  }

  /** Ends the one that was begun. */
  end(): void {
    if (this.#current === undefined) return;
    const { workspace } = this.#current;
    const milliseconds = Math.min(mostSpent, this.#spentBy(workspace));
    this.#current = undefined;
    this.#spent.set(workspace, { milliseconds, at: this.#now() });
    for (const other of this.#spent.keys()) {
      if (this.#spentBy(other) === 0) this.#spent.delete(other);
    }
  }

  /** The same, and puts it back in line; false where something newer of its app is there, or nothing is taken any more. */
  putBack(): boolean {
    const current = this.#current;
    this.end();
    if (current === undefined || this.#closed || this.#waiting.has(keyOf(current))) return false;
    const { since: _, ...waiting } = current;
    this.#waiting.set(keyOf(current), { ...waiting, isAgain: true });
    return true;
  }

  /** Milliseconds until the one that was begun is to make room for another workspace; undefined while no other waits. */
  makesRoomIn(): number | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    const next = this.#first(({ workspace, until, isAgain }) =>
      workspace !== current.workspace && until > this.#now() && !isAgain
    );
    if (next === undefined) return undefined;
    return Math.max(0, this.#spentBy(next.workspace) + lead - this.#spentBy(current.workspace));
  }

  /** Forgets all that wait, and takes no more. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
  }

  #first(isMeant: (waiting: Waiting<Item>) => boolean): Waiting<Item> | undefined {
    return [...this.#waiting.values()].filter(isMeant)
      .sort((a, b) => this.#spentBy(a.workspace) - this.#spentBy(b.workspace))[0];
  }

  /** The time that a workspace has had lately, its current turn included. */
  #spentBy(workspace: string): number {
    const now = this.#now();
    const { milliseconds, at } = this.#spent.get(workspace) ?? { milliseconds: 0, at: now };
    const before = Math.max(0, milliseconds - (now - at) * forgottenShare);
    return this.#current?.workspace === workspace ? before + now - this.#current.since : before;
  }
}

/** Ids have no slash in them. */
function keyOf({ workspace, app }: AppName): string {
  return `${workspace}/${app}`;
}
