// A stand-in for a runner, whose share is kept by the supervisor or the kernel.
import type { SharedRunner } from '../../../../supervisor/hooks/shares/workspace-share.ts';

/** A runner that takes so much of a core whenever it is not stopped. */
export class Worker implements SharedRunner {
  readonly app: string;
  cores: number;
  own = 0;
  cpu = 0;
  isPaused = false;
  isSlowed = false;
  isLast = false;
  endings: string[] = [];

  constructor(app: string, cores: number) {
    this.app = app;
    this.cores = cores;
  }

  work(milliseconds: number): void {
    if (!this.isPaused) this.cpu += this.cores * milliseconds;
  }

  measure() {
    return { cpu: this.cpu, rss: this.own, own: this.own };
  }

  rank(isLast: boolean): void {
    this.isLast = isLast;
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
  }

  slow(isSlowed: boolean): void {
    this.isSlowed = isSlowed;
  }

  spent(what: 'cpu' | 'memory', kill: boolean): void {
    this.endings.push(`${what} ${kill}`);
  }
}
