// What policy gives to all hook processes of a workspace together. The supervisor enforces it, as it sees those of all API
// processes.
import type { RunnerShare } from '../../../supervisor/protocol.ts';
import type { AppIdentity } from '../../../storage/definition.ts';
import type { Policies } from '../../policies/effective.ts';
import type { Meter } from '../../usage/activity.ts';
import type { RunnerOptions } from './host.ts';

/** Reads the share of a workspace. Throws `StorageError`. */
export async function readShare(policies: Policies, workspace: string): Promise<RunnerShare> {
  const read = async (name: 'hooks.cpu' | 'hooks.cpu_burst_sec' | 'hooks.workspace_memory_mb') =>
    (await policies.range(name, { workspace })).value;
  return {
    cpu_cores: await read('hooks.cpu') / 100,
    cpu_burst_ms: await read('hooks.cpu_burst_sec') * 1000,
    memory_mb: await read('hooks.workspace_memory_mb'),
  };
}

/** Reads what policy has for a runner of an app, whose CPU time is counted as the app's. Throws `StorageError`. */
export async function planRunner(
  { policies, activity }: { policies: Policies; activity: Pick<Meter, 'hookCpu'> },
  app: AppIdentity,
): Promise<Pick<RunnerOptions, 'workspace' | 'app' | 'memory_mb' | 'share' | 'onUse'>> {
  const place = { workspace: app.workspace.id, app: app.id };
  let counted = 0;
  return {
    ...place,
    memory_mb: (await policies.range('hooks.memory_mb', place)).value,
    share: await readShare(policies, place.workspace),
    // It is told as the sum since the runner was started.
    onUse: ({ cpu_ms }) => {
      activity.hookCpu(app, cpu_ms - counted);
      counted = cpu_ms;
    },
  };
}
