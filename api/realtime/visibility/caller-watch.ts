// Finds subscriptions whose callers have changed: their profiles, their addresses, or whether these are verified.
import { setImmediate } from 'node:timers/promises';
import { ApiError } from '../../errors.ts';
import type { RealtimeGate, Reauthorization, Report } from '../ports.ts';
import type { StreamMember } from '../stream.ts';

interface WatchOptions {
  gate: Pick<RealtimeGate, 'facts'>;
  report: Report;
  /** The least time from one check to the next, in milliseconds. */
  intervalMs: number;
  /** Called for each subscription whose caller has changed. */
  onChange: (member: StreamMember) => void;
}

/** Subscriptions that are checked in one turn. */
const maxInTurn = 200;

/**
 * Checks, again and again, the subscriptions whose views read more of their callers than the tokens have. Users are
 * written in other processes and by other apps, so they are read, and not waited for.
 */
export class CallerWatch {
  readonly #options: WatchOptions;
  #isBusy = false;
  #nextAt = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Begins a check unless one is running, or ended a moment ago. `now` is the time of the hub. */
  sweep(feeds: Iterable<{ subscriptions: ReadonlySet<StreamMember> }>, now: number): void {
    if (this.#isBusy || now < this.#nextAt) return;
    const members = [...feeds].flatMap(({ subscriptions }) =>
      [...subscriptions].filter(({ facts }) => facts !== undefined)
    );
    if (members.length === 0) return;
    this.#isBusy = true;
    this.#nextAt = now + this.#options.intervalMs;
    void this.#check(members).finally(() => this.#isBusy = false);
  }

  async #check(members: readonly StreamMember[]): Promise<void> {
    const apps = Map.groupBy(members, ({ request: { topic } }) => `${topic.workspace} ${topic.app}`);
    for (const inApp of apps.values()) {
      const reauthorization: Reauthorization = {
        *callers() {
          for (const { request: { principal } } of inApp) if (principal !== null) yield principal;
        },
      };
      for (const [index, member] of inApp.entries()) {
        if (index % maxInTurn === maxInTurn - 1) await setImmediate();
        if (await this.#hasChanged(member, reauthorization)) this.#options.onChange(member);
      }
    }
  }

  /** A caller whom the rule no longer admits has changed. After a failure, the next check decides. */
  async #hasChanged(member: StreamMember, reauthorization: Reauthorization): Promise<boolean> {
    const { facts } = member;
    try {
      const found = await this.#options.gate.facts(member.request, reauthorization);
      // It may have been re-authorized meanwhile.
      return found !== facts && member.facts === facts;
    } catch (error) {
      if (error instanceof ApiError) return true;
      this.#options.report('check the callers of subscriptions', error);
      return false;
    }
  }
}
