// The end of workspaces with a time to live: one process deletes them when it is over, also after a restart.
import { listExpiredWorkspaces } from '../../storage/control/workspaces.ts';
import { logFailure } from '../logging/events.ts';
import { type RemoveDeps, removeExpired } from './remove.ts';

/** The longest time to live that a request may ask for, in seconds: a year. */
export const maxTtlSeconds = 31_536_000;

const pollMs = 1_000;
/** Deleted one after another; the rest waits for the next round. */
const maxPerRound = 50;

/** The time at which a workspace is deleted that has so many seconds; null for one that stays. */
export function expiryAfter(seconds: number | null | undefined, now: Date): Date | null {
  return seconds === null || seconds === undefined ? null : new Date(now.getTime() + seconds * 1_000);
}

/** The background task. */
export interface Expiry {
  /** Ends the task after the present deletion. */
  close(): Promise<void>;
}

/** Starts to look for workspaces whose time is over. */
export function startExpiry(deps: RemoveDeps): Expiry {
  let isClosed = false;
  let round: Promise<void> | undefined;
  const run = async () => {
    const expired = await deps.databases.control.run((sql) =>
      listExpiredWorkspaces(sql, { now: deps.now(), limit: maxPerRound })
    );
    for (const workspace of expired) {
      if (isClosed) return;
      await removeExpired(deps, workspace);
    }
  };
  const timer = setInterval(() => {
    round ??= run().catch(logFailure(deps, 'delete expired workspaces')).finally(() => round = undefined);
  }, pollMs);
  timer.unref();
  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await round;
    },
  };
}
