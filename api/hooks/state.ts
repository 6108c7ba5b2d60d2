// How the hooks of an app are: what is registered, how often it ran, what its process uses.
import type { AppHooks } from './app-hooks.ts';
import type { HookState } from './ports.ts';

/** Starts nothing. */
export async function stateOf({ known, live, counters }: AppHooks): Promise<HookState> {
  const files = known?.files ?? [];
  const use = await live?.measure();
  const count = (list: 'hooks' | 'routes' | 'jobs') =>
    files.reduce((sum, file) => sum + file[list].length, 0);
  return {
    running: live !== undefined,
    generation: live?.number ?? null,
    loaded: files.map(({ file }) => file),
    registrations: { hooks: count('hooks'), routes: count('routes'), jobs: count('jobs') },
    runs: counters.runs,
    errors: counters.errors,
    last_kill: counters.lastKill,
    in_flight: live?.channel.inFlight ?? 0,
    cpu_ms: use?.cpu_ms ?? null,
    rss_bytes: use?.rss_bytes ?? null,
  };
}
