// The priority of runners against the server's own processes, in the eyes of the kernel.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { systemErrorCode } from '../errors.ts';

/** The priority of hooks, a little behind the server. With much less, honest hooks do not come back in time when it is busy. */
export const hookNice = 2;
/** The priority of hooks whose workspace takes more than its share while others need the processor. */
export const greedyNice = 19;

/** Without root, the kernel takes ten changes a second of a whole machine. */
const retryMs = 120;

/**
 * Sets the priority of the session of a process. Where the kernel has autogroups, each session gets an equal share of the processor,
 * whatever priority the processes in it have (https://man7.org/linux/man-pages/man7/sched.7.html). `find` returns a
 * process of the session, once there is one. Does nothing on kernels without autogroups.
 */
export async function rankSession(
  find: () => Promise<number | undefined>,
  getNice: () => number,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    const pid = await find();
    if (pid !== undefined && await setAutogroup(pid, getNice()) !== 'EAGAIN') return;
    await pause(retryMs, undefined, { signal: ended, ref: false }).catch(() => 'ended');
  }
}

/** Returns the code of the system's refusal, if there is one. */
async function setAutogroup(pid: number, nice: number): Promise<string | undefined> {
  return await writeFile(`/proc/${pid}/autogroup`, `${nice}`).then(() => undefined, systemErrorCode);
}

/** By how much likelier the kernel ends a runner than a process of the server, when memory runs out. */
const lead = 500;
const maxScore = 1000;

/**
 * The `oom_score_adj` of runners: 500 above that of this process, and no less than 500, so that memory never costs the
 * server its database while there are runners (https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html).
 * Undefined where the kernel has none.
 */
export async function readRunnerScore(): Promise<number | undefined> {
  const own = await readFile('/proc/self/oom_score_adj', 'utf8').catch(() => undefined);
  return own === undefined ? undefined : Math.min(maxScore, Math.max(0, Number(own)) + lead);
}

/** The score of the server's own processes, which inherit it: nothing else is to be ended before them but what says so. */
const ownScore = -500;

/** Makes this process and its children the last that the kernel ends. Only root may; others keep the score they have. */
export async function protectFromOom(): Promise<void> {
  const path = '/proc/self/oom_score_adj';
  const now = Number(await readFile(path, 'utf8').catch(() => 'none'));
  if (now > ownScore) await writeFile(path, `${ownScore}`).catch(() => 'not root');
}
