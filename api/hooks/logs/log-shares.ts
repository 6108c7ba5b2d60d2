// The memory that the logs of a workspace's apps may have together: over it, the oldest lines go.
import type { Deps } from '../../deps.ts';
import { ignore } from '../../logging/ignore.ts';
import { quotaLimit } from '../../usage/quota.ts';
import { HookLog, type LogEntry } from './log.ts';

/** The dependencies of the shares. */
export interface LogSharesDeps extends Pick<Deps, 'policies' | 'spentShares' | 'now'> {
  /** The number of processes, among which a share is divided. */
  workers: number;
}

const mebibyte = 1_048_576;
const quota = 'quota.log_mb';

/** The logs of all apps in this process, by workspace. */
export class LogShares {
  readonly #deps: LogSharesDeps;
  readonly #logs = new Map<string, Set<HookLog>>();
  /** Workspaces whose logs are about to be trimmed: once for all lines that come together. */
  readonly #trimming = new Set<string>();

  constructor(deps: LogSharesDeps) {
    this.#deps = deps;
  }

  /** Makes the log of an app, which counts in the share of its workspace until it is closed. `print`: see `HookLog`. */
  open(workspace: string, print?: (entry: LogEntry) => void): HookLog {
    const logs = this.#logs.get(workspace) ?? new Set();
    this.#logs.set(workspace, logs);
    const log = new HookLog(this.#deps.now, print, () => this.#trimSoon(workspace, logs));
    logs.add(log);
    return log;
  }

  /** Stops counting the log of an app that is gone. */
  close(workspace: string, log: HookLog): void {
    const logs = this.#logs.get(workspace);
    logs?.delete(log);
    if (logs?.size === 0) this.#logs.delete(workspace);
  }

  #trimSoon(workspace: string, logs: ReadonlySet<HookLog>): void {
    if (this.#trimming.has(workspace)) return;
    this.#trimming.add(workspace);
    void this.#trim(workspace, logs).catch(ignore('the next line reads the policy again'));
  }

  async #trim(workspace: string, logs: ReadonlySet<HookLog>): Promise<void> {
    const { workers, policies, spentShares } = this.#deps;
    const limit = await quotaLimit(policies, quota, { workspace }).finally(() =>
      this.#trimming.delete(workspace)
    );
    if (limit === undefined) return;
    const max = limit * mebibyte / workers;
    let bytes = sum(logs);
    if (bytes <= max) return;
    spentShares.note({ share: quota, workspace });
    while (bytes > max) bytes -= oldest(logs)?.dropOldest() ?? bytes;
  }
}

function sum(logs: ReadonlySet<HookLog>): number {
  return logs.values().reduce((all, { bytes }) => all + bytes, 0);
}

/** The log with the oldest line. */
function oldest(logs: ReadonlySet<HookLog>): HookLog | undefined {
  return logs.values().reduce<HookLog | undefined>(
    (first, log) => log.oldestAt < (first?.oldestAt ?? Infinity) ? log : first,
    undefined,
  );
}
