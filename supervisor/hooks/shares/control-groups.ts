// Control groups of the kernel (cgroup v2): one for the server's own processes, one for the hooks of each workspace.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { WorkspaceGroup } from './workspace-group.ts';

/** Where control groups are, and for which process and data directory; the defaults are the kernel's. */
export interface ControlGroupPlace {
  dataDir: string;
  root?: string;
  self?: string;
  pid?: number;
}

/** The control groups of this server; none, and why, where it may make none. */
export type KernelShares = { groups: ControlGroups } | { groups: undefined; why: string };

const controllers = ['cpu', 'memory', 'pids'];
const enable = controllers.map((name) => `+${name}`).join(' ');
const disable = controllers.map((name) => `-${name}`).join(' ');
/** All hooks together have half of the server's weight (100) on a busy processor: a third of it. */
const hooksWeight = '50';

/** The folder of the control group of this process. Throws where the kernel has version 1 only, or none. */
export function findOwnGroup(root = '/sys/fs/cgroup', self = '/proc/self/cgroup'): string {
  const path = /^0::(\/.*)$/m.exec(readFileSync(self, 'utf8'))?.[1];
  if (path === undefined || !existsSync(join(root, 'cgroup.controllers'))) {
    throw new Error(`${root} does not have control groups of version 2`);
  }
  return join(root, path);
}

/**
 * Makes the groups, and moves this process into that of the server, which all that it starts inherits. Must come before
 * it starts anything. See https://docs.kernel.org/admin-guide/cgroup-v2.html#delegation.
 */
export function openControlGroups(
  { dataDir, root, self, pid = process.pid }: ControlGroupPlace,
): KernelShares {
  try {
    const own = findOwnGroup(root, self);
    return { groups: new ControlGroups({ own, base: makeBase(own, dataDir, pid), pid }) };
  } catch (error) {
    return { groups: undefined, why: messageOf(error) };
  }
}

/** The group below which the others are made: that of this process, or one below the root of the whole machine. */
function makeBase(own: string, dataDir: string, pid: number): string {
  const isRootOfMachine = !existsSync(join(own, 'cgroup.type'));
  if (isRootOfMachine) {
    // Processes that are here are no obstacle, unlike elsewhere, but limits have no effect on the group itself.
    writeFileSync(join(own, 'cgroup.subtree_control'), enable);
    const base = join(own, `bulkhead-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`);
    mkdirSync(base, { recursive: true });
    return base;
  }
  const missing = controllers.filter((name) => !words(join(own, 'cgroup.controllers')).includes(name));
  if (missing.length > 0) throw new Error(`${own} does not have the controllers ${missing.join(', ')}`);
  // The kernel gives controllers to groups below one only if no process is in it, and others are not ours to move.
  const others = words(join(own, 'cgroup.procs')).filter((other) => other !== String(pid));
  if (others.length > 0) throw new Error(`the control group ${own} has other processes than this one`);
  return own;
}

/** The groups below `base`, made when this is. `own` is the group that the process was started in. */
export class ControlGroups {
  readonly base: string;
  readonly #own: string;
  readonly #pid: number;

  /** Throws what the kernel refuses, with all as it was. */
  constructor({ own, base, pid }: { own: string; base: string; pid: number }) {
    this.base = base;
    this.#own = own;
    this.#pid = pid;
    try {
      this.#make();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The group of a workspace's hooks. Throws what the kernel refuses. */
  open(workspace: string): WorkspaceGroup {
    return new WorkspaceGroup(join(this.#hooks, `ws-${workspace}`));
  }

  /** Moves this process back and removes the groups, as far as nothing is left in them. */
  close(): void {
    this.#removeEmpty();
    attempt(() => rmdirSync(this.#hooks));
    attempt(() => writeFileSync(join(this.base, 'cgroup.subtree_control'), disable));
    attempt(() => writeFileSync(join(this.#own, 'cgroup.procs'), String(this.#pid)));
    attempt(() => rmdirSync(this.#server));
    if (this.base !== this.#own) attempt(() => rmdirSync(this.base));
  }

  get #server(): string {
    return join(this.base, 'server');
  }

  get #hooks(): string {
    return join(this.base, 'hooks');
  }

  #make(): void {
    mkdirSync(this.#server, { recursive: true });
    writeFileSync(join(this.#server, 'cgroup.procs'), String(this.#pid));
    writeFileSync(join(this.base, 'cgroup.subtree_control'), enable);
    // Programs look for the memory that they may use in their own group alone.
    for (const limit of ['memory.max', 'memory.high']) {
      if (!existsSync(join(this.base, limit))) continue;
      writeFileSync(join(this.#server, limit), readFileSync(join(this.base, limit), 'utf8'));
    }
    mkdirSync(this.#hooks, { recursive: true });
    writeFileSync(join(this.#hooks, 'cgroup.subtree_control'), enable);
    writeFileSync(join(this.#hooks, 'cpu.weight'), hooksWeight);
    // Those of a server that was killed.
    this.#removeEmpty();
    // Not every kernel has every limit: tried, not guessed.
    const trial = new WorkspaceGroup(join(this.#hooks, 'trial'));
    trial.limitMemory(1_048_576);
    trial.limitRunners(1);
    trial.limitCores(1);
    trial.remove();
  }

  #removeEmpty(): void {
    attempt(() => {
      for (const entry of readdirSync(this.#hooks, { withFileTypes: true })) {
        if (entry.isDirectory()) attempt(() => rmdirSync(join(this.#hooks, entry.name)));
      }
    });
  }
}

function words(path: string): string[] {
  return readFileSync(path, 'utf8').split(/\s+/).filter((word) => word !== '');
}

/** What cannot be taken back is left: an empty group costs next to nothing. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    return;
  }
}
