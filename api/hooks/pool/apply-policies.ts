// Has the hooks of an app follow policies that have changed, as far as they do not with every run.
import type { AppHooks, AppHooksOptions } from '../app-hooks.ts';
import { readShare } from './workspace-share.ts';

/** Where policies are read, and what is done about them. */
export interface PolicyTargets extends Pick<AppHooksOptions, 'deps' | 'host'> {
  reload: (hooks: AppHooks) => Promise<void>;
}

/**
 * Loads code again whose jobs policy permits more or less often than when it was loaded. Ends a runner that was started with
 * other memory than policy gives by now; the next call starts another. Never throws.
 */
export async function applyPolicies(
  hooks: AppHooks,
  { host, deps: { policies, observe }, reload }: PolicyTargets,
): Promise<void> {
  const { live, path, registrations } = hooks;
  try {
    const minSec = registrations?.jobPolicy?.minSec;
    const { value: cronMinSec } = await policies.range('hooks.cron_min_sec', path);
    if (minSec !== undefined && minSec !== cronMinSec) return await reload(hooks);
    if (live === undefined) return;
    host.setShare(path.workspace, await readShare(policies, path.workspace));
    const { value } = await policies.range('hooks.memory_mb', path);
    if (value !== live.memory_mb && hooks.live === live) hooks.stopRunner();
  } catch (error) {
    observe({ type: 'background_failed', task: 'refit hook runners', error: String(error) });
  }
}
