// Removing audit entries that are older than the operator wants to keep them.
import { setTimeout as pause } from 'node:timers/promises';
import type { Chain } from '../../storage/audit/chain.ts';
import { pruneBatch } from '../../storage/audit/retention.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { withEveryLog } from './logs.ts';

type RetentionDeps = Pick<Deps, 'config' | 'databases' | 'secrets' | 'observe' | 'now'>;

const dayMs = 86_400_000;

/** Removal that goes on until it is closed. */
export interface Retention {
  close(): Promise<void>;
}

/** Removes old entries now and once a day, in every log; does nothing where they are kept for ever. */
export function keepRetention(deps: RetentionDeps): Retention {
  const days = deps.config.audit.retention_days;
  const ending = new AbortController();
  const work = days === 0 ? Promise.resolve() : repeat(deps, days, ending.signal);
  return {
    async close() {
      ending.abort();
      await work;
    },
  };
}

async function repeat(deps: RetentionDeps, days: number, ending: AbortSignal): Promise<void> {
  const onFailure = logFailure(deps, 'remove old audit entries');
  while (!ending.aborted) {
    const before = new Date(deps.now().getTime() - days * dayMs);
    const work = (connection: Connection, chain: Chain) => prune(deps, { connection, chain, before });
    await withEveryLog(deps, work, { ending, onFailure }).catch(onFailure);
    await pause(dayMs, undefined, { signal: ending, ref: false }).catch(() => 'told to stop');
  }
}

async function prune(
  { secrets, observe, now }: RetentionDeps,
  { connection, chain, before }: { connection: Connection; chain: Chain; before: Date },
): Promise<void> {
  const pruneMore = () => pruneBatch(connection, chain, { key: secrets, before, now: now() });
  let removed = 0;
  for (let some = await pruneMore(); some > 0; some = await pruneMore()) removed += some;
  if (removed > 0) observe({ type: 'audit_pruned', log: chain.name, removed });
}
