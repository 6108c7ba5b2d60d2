// Removes audit entries that are older than the configured retention.
import { setTimeout as pause } from 'node:timers/promises';
import type { Chain } from '../../storage/audit/chain.ts';
import { pruneBatch } from '../../storage/audit/retention.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { ignore } from '../logging/ignore.ts';
import { withEveryLog } from './logs.ts';

type RetentionDeps = Pick<Deps, 'config' | 'databases' | 'secrets' | 'observe' | 'now'>;

const dayMs = 86_400_000;

/** The daily removal of old entries. */
export interface Retention {
  close(): Promise<void>;
}

/** Starts to remove old entries of every log, now and once a day. Does nothing where they are kept for ever. */
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
    await pause(dayMs, undefined, { signal: ending, ref: false }).catch(ignore('the loop ends'));
  }
}

async function prune(
  { secrets, observe, now }: RetentionDeps,
  { connection, chain, before }: { connection: Connection; chain: Chain; before: Date },
): Promise<void> {
  const pruneNext = () => pruneBatch(connection, chain, { key: secrets, before, now: now() });
  let removed = 0;
  for (let count = await pruneNext(); count > 0; count = await pruneNext()) removed += count;
  if (removed > 0) observe({ type: 'audit_pruned', log: chain.name, removed });
}
