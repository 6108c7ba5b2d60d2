// Whose runner is stopped when another app needs one and there are as many as there may be.
import type { AppHooks } from '../app-hooks.ts';

/**
 * Of the workspace with most runners, so that none loses its own to another that uses ever more of them, the one that was not
 * used for longest; undefined where all have something to do. Each of `running` has a runner.
 */
export function findEvictable(running: readonly AppHooks[]): AppHooks | undefined {
  const counts = new Map<string, number>();
  for (const { path } of running) counts.set(path.workspace, (counts.get(path.workspace) ?? 0) + 1);
  let first: AppHooks | undefined;
  for (const hooks of running) {
    if (hooks.live?.channel.inFlight !== 0) continue;
    if (first === undefined || isEvictedBefore(hooks, first, counts)) first = hooks;
  }
  return first;
}

function isEvictedBefore(one: AppHooks, other: AppHooks, counts: ReadonlyMap<string, number>): boolean {
  const more = (counts.get(one.path.workspace) ?? 0) - (counts.get(other.path.workspace) ?? 0);
  return more > 0 || more === 0 && (one.live?.usedAt ?? 0) < (other.live?.usedAt ?? 0);
}
