// Keeps the runners of each workspace within its share of the machine, and those of all within the share of hooks.
import { messageOf } from '../../errors.ts';
import type { Output } from '../../output.ts';
import type { ProcessUsage } from '../../process-table.ts';
import type { RunnerShare } from '../../protocol.ts';
import type { ControlGroups } from './control-groups.ts';
import { KernelHold } from './kernel-hold.ts';
import { SpareTime, totalMemory } from './machine.ts';
import { type SharedRunner, WorkspaceShare } from './workspace-share.ts';

/** What the shares depend on. */
export interface HookSharesOptions {
  /** In milliseconds, of any origin. */
  now: () => number;
  /** Memory of all runners, in MiB; 0 for half of what there is. */
  totalMemoryMb: number;
  /** Control groups for workspaces; undefined where the server may make none. */
  groups: ControlGroups | undefined;
  say: Output['log'];
}

/** How often everything is measured: while all have what they want, and while some have not. Milliseconds. */
const calmMs = 1_000;
const busyMs = 250;
/** For so long, a workspace that did something needs the processor. API processes say so every 5 s. */
const activeMs = 6_000;
/** Less of a core than this needs nothing. */
const negligibleShare = 0.01;
/** A workspace is logged once in so many milliseconds for each share. */
const logMs = 60_000;

/** The shares of all workspaces. */
export class HookShares {
  readonly #options: HookSharesOptions;
  readonly #workspaces = new Map<string, WorkspaceShare>();
  readonly #activeAt = new Map<string, number>();
  readonly #loggedAt = new Map<string, number>();
  readonly #maxBytes: number;
  readonly #spareTime: SpareTime;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HookSharesOptions) {
    this.#options = options;
    const { totalMemoryMb, groups, now } = options;
    this.#maxBytes = totalMemoryMb === 0 ? totalMemory() / 2 : totalMemoryMb * 1_048_576;
    this.#spareTime = new SpareTime(now, groups?.base);
  }

  /** Makes room for one more runner. Returns the file into which it has to write 0 to be held by the kernel, if it is to be. */
  open(workspace: string, share: RunnerShare): string | undefined {
    const known = this.#workspaces.get(workspace);
    const workspaceShare = known ?? new WorkspaceShare(share, this.#openGroup(workspace));
    workspaceShare.set(share);
    this.#workspaces.set(workspace, workspaceShare);
    this.#timer ??= setTimeout(() => this.#check(), calmMs).unref();
    return workspaceShare.makeRoom();
  }

  /** From now on, hook code runs in the runner, for which there was made room. */
  add(workspace: string, runner: SharedRunner): void {
    this.#workspaces.get(workspace)?.add(runner);
  }

  remove(workspace: string, runner: SharedRunner): void {
    this.#workspaces.get(workspace)?.remove(runner);
  }

  /** Takes what policies say of a workspace by now. */
  set(workspace: string, share: RunnerShare): void {
    this.#workspaces.get(workspace)?.set(share);
  }

  /** Notes that a workspace has had requests lately. */
  noteActive(workspace: string): void {
    this.#activeAt.set(workspace, this.#options.now());
  }

  /** The usage of the runners of a workspace or an app, as it was at most a second ago. */
  usageOf(workspace: string, app: string | undefined): ProcessUsage {
    return this.#workspaces.get(workspace)?.usageOf(app) ?? { cpu: 0, rss: 0, own: 0 };
  }

  /** True when the kernel has ended a process of the workspace for want of memory, which is logged; once for each. */
  takeKill(workspace: string, app: string): boolean {
    const share = this.#workspaces.get(workspace);
    if (share === undefined || !share.takeKill()) return false;
    this.#logMemory({ workspace, app, limit: 'hooks.workspace_memory_mb', bytes: share.bytes });
    return true;
  }

  #check(): void {
    const { now } = this.#options;
    const { elapsedMs, spare } = this.#spareTime.measure();
    for (const [id, share] of this.#workspaces) {
      share.measure();
      if (share.used > negligibleShare * elapsedMs) this.#activeAt.set(id, now());
    }
    const short = [...this.#workspaces.values()].filter(({ isShort }) => isShort).length;
    for (const [id, share] of this.#workspaces) {
      const stretch = {
        now: now(),
        elapsedMs,
        spare: spare / Math.max(1, short),
        isAlone: this.#isAlone(id),
      };
      if (share.balance(stretch)) this.#logSpent(id);
      if (share.isOver && share.removeGroup()) this.#workspaces.delete(id);
    }
    this.#checkMemory();
    const isBusy = [...this.#workspaces.values()].some(({ isShort }) => isShort);
    this.#timer = this.#workspaces.size === 0
      ? undefined
      : setTimeout(() => this.#check(), isBusy ? busyMs : calmMs).unref();
  }

  /** One runner at a time: what it gives back shows in the next measurement. */
  #checkMemory(): void {
    for (const [id, share] of this.#workspaces) {
      if (share.isOverMemory) this.#endLargest(id, share, 'hooks.workspace_memory_mb');
    }
    const all = [...this.#workspaces].map(([id, share]) => ({ id, share, bytes: share.bytes }));
    if (all.reduce((sum, { bytes }) => sum + bytes, 0) <= this.#maxBytes) return;
    const [most] = all.sort((a, b) => b.bytes - a.bytes);
    if (most !== undefined) this.#endLargest(most.id, most.share, 'hooks.total_memory_mb');
  }

  #endLargest(workspace: string, share: WorkspaceShare, limit: string): void {
    const { bytes } = share;
    const app = share.endLargest()?.app;
    if (app === undefined) return;
    this.#logMemory({ workspace, app, limit, bytes });
  }

  #openGroup(workspace: string): KernelHold {
    const message = 'the kernel does not keep the hooks of a workspace to their share: the supervisor does';
    const onLost = (error: unknown) =>
      this.#options.say('warn', message, { workspace, error: messageOf(error) });
    try {
      return new KernelHold(this.#options.groups?.open(workspace), onLost);
    } catch (error) {
      onLost(error);
      return new KernelHold(undefined, onLost);
    }
  }

  #logMemory(
    { workspace, app, limit, bytes }: { workspace: string; app: string; limit: string; bytes: number },
  ): void {
    const fields = {
      type: 'share_spent',
      share: limit,
      workspace,
      app,
      memory_mb: Math.round(bytes / 1_048_576),
    };
    this.#options.say('warn', 'hooks use too much memory: the largest process was ended', fields);
  }

  #logSpent(workspace: string): void {
    const now = this.#options.now();
    if (now - (this.#loggedAt.get(workspace) ?? -Infinity) < logMs) return;
    for (const [id, at] of this.#loggedAt) if (now - at > logMs) this.#loggedAt.delete(id);
    this.#loggedAt.set(workspace, now);
    const message = 'hooks of a workspace take more CPU time than their share, and are held to it';
    this.#options.say('warn', message, { type: 'share_spent', share: 'hooks.cpu', workspace });
  }

  /** True when no other workspace needs the processor. */
  #isAlone(workspace: string): boolean {
    const since = this.#options.now() - activeMs;
    for (const [id, at] of this.#activeAt) if (at < since) this.#activeAt.delete(id);
    return ![...this.#activeAt.keys()].some((id) => id !== workspace);
  }
}
