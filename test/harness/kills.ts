// Killing the API of a server without warning, and waiting for its successor.
import { setTimeout as pause } from 'node:timers/promises';
import { coreRestartRules } from '../../supervisor/restarts.ts';
import { isAlive, isApi, processTree } from './processes.ts';
import type { TestServer } from './server.ts';

/** How often a fault is tried: as often as the fault plan asks with `BULKHEAD_TEST_FAULTS=all`, else a few times. */
export function timesOf({ few, all }: { few: number; all: number }): number {
  return process.env['BULKHEAD_TEST_FAULTS'] === 'all' ? all : few;
}

/** Process number of the one API process. */
export async function apiPidOf({ pid }: TestServer): Promise<number> {
  const api = (await processTree(pid)).find(isApi);
  if (api === undefined) throw new Error('there is no API process');
  return api.pid;
}

/** Kills that process and waits until it is gone; its successor is not there yet. */
export async function killApi(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  while (await isAlive(pid)) await new Promise(setImmediate);
}

/**
 * Waits until the successor answers, and has done so for as long as the supervisor calls healthy: the fifth in a row that
 * is killed sooner would be a crash loop, and have no successor for half a minute. Answers its process number.
 */
export async function untilBack(server: TestServer): Promise<number> {
  for (;;) {
    // A refused connection is what is waited out.
    const response = await fetch(`${server.url}/readyz`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) break;
    await pause(10);
  }
  // The supervisor may hear later than we that it is ready.
  await pause(coreRestartRules.healthyMs + 100);
  return await apiPidOf(server);
}
