// Settings for what keeps hook files on disk, where no runner starts.
import type { Config } from '../../supervisor/protocol.ts';

/** Those of a server whose hook files are in `dir`. */
export function hookSettings(dir: string): Config['hooks'] {
  return {
    dir,
    timeout_ms: 1,
    memory_mb: 1,
    idle_ms: 1,
    max_runners: 1,
    total_memory_mb: 0,
    sandbox: 'auto',
    jit: false,
    type_check: false,
  };
}
