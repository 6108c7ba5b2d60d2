// Whose runner is stopped when another app needs one and there are as many as there may be.
import type { AppHooks } from '../app-hooks.ts';
import { runnersOfWorkspace } from './host.ts';

/** Stops a runner when there are as many as there may be, in all or of the workspace that needs one. */
export function makeRoom(apps: Iterable<AppHooks>, workspace: string, maxRunners: number): void {
  const running = [...apps].filter(({ live }) => live !== undefined);
  const own = running.filter(({ path }) => path.workspace === workspace);
  if (own.length >= runnersOfWorkspace(maxRunners)) return findEvictable(own)?.stopRunner();
  if (running.length < maxRunners) return;
  const idle = findEvictable(running);
  if (idle !== undefined) return idle.stopRunner();
  const streaming = findStreaming(running, own.length);
  const runner = streaming?.live;
  streaming?.stopRunner();
  runner?.close();
}

/**
 * Of the workspace with most runners, so that none loses its own to another that uses ever more of them, the one that was not
 * used for longest; undefined where all have something to do. Each of `running` has a runner.
 */
function findEvictable(running: readonly AppHooks[]): AppHooks | undefined {
  const counts = countByWorkspace(running);
  let first: AppHooks | undefined;
  for (const hooks of running) {
    if (hooks.live?.channel.inFlight !== 0) continue;
    if (first === undefined || isEvictedBefore(hooks, first, counts)) first = hooks;
  }
  return first;
}

/**
 * Where all have something to do: of the workspace with most runners, the one whose responses stream on, and have for longest.
 * Undefined where the workspace that needs a runner has as many.
 */
function findStreaming(running: readonly AppHooks[], needing: number): AppHooks | undefined {
  const counts = countByWorkspace(running);
  const most = Math.max(...counts.values());
  if (most <= needing) return undefined;
  return running
    .filter(({ path, live }) => counts.get(path.workspace) === most && live?.streamingSince !== undefined)
    .toSorted((one, other) => (one.live?.streamingSince ?? 0) - (other.live?.streamingSince ?? 0))[0];
}

function countByWorkspace(running: readonly AppHooks[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of running) counts.set(path.workspace, (counts.get(path.workspace) ?? 0) + 1);
  return counts;
}

function isEvictedBefore(one: AppHooks, other: AppHooks, counts: ReadonlyMap<string, number>): boolean {
  const more = (counts.get(one.path.workspace) ?? 0) - (counts.get(other.path.workspace) ?? 0);
  return more > 0 || more === 0 && (one.live?.usedAt ?? 0) < (other.live?.usedAt ?? 0);
}
