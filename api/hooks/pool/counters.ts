// Counts the outcomes of an app's runs in this process.
import type { ChannelEnd } from '../rpc/invocation.ts';

/** Counted since the process began. */
export interface Counters {
  runs: number;
  errors: number;
  /** How the last runner ended that did not end as it should. */
  lastKill: Exclude<ChannelEnd, 'closed'> | null;
  /** In milliseconds of the epoch. */
  lastKillAt: number | null;
}
