// What policy gives to all hook processes of a workspace together. The supervisor enforces it, as it sees those of all API
// processes.
import type { RunnerShare } from '../../../supervisor/protocol.ts';
import type { Policies } from '../../policies/effective.ts';

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
