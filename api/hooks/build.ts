// The hooks of this process, put together.
import type { PeerReport, PeerRequest, RunnerReport, RunnerRequest } from '../../supervisor/protocol.ts';
import type { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../deps.ts';
import { ApiPeers } from '../process/peers.ts';
import type { HookParts } from './app-hooks.ts';
import { JobMemory } from './jobs/registered-jobs.ts';
import { CronTimes } from './jobs/times.ts';
import { Schedule } from './jobs/schedule.ts';
import type { HookQuestion } from './logs/aggregate.ts';
import { SupervisedRunners } from './pool/host.ts';
import { Runners } from './runners.ts';

/** What makes hooks run, and what must be told of the world. */
export interface HookSystem {
  hooks: Runners;
  /** Takes what the supervisor says; `handle` is what came with the message. */
  receive(report: RunnerReport | PeerReport, handle: unknown): void;
}

interface HookSurroundings {
  /** To the supervisor. */
  send: (request: RunnerRequest | PeerRequest) => void;
  deps: () => Deps;
  /** Carries out a call of hook code: the calls of `$app` stand above the features that they use. */
  answerCall: (deps: Deps, ...call: Parameters<HookParts['answer']>) => Promise<unknown>;
  worker: number;
  /** See `HookParts`. */
  restShare?: number;
  /** See `HookParts`; of as many at once as a core has time for unless it is given. */
  starts?: FairQueue;
}

/** Makes it. `deps` answers what everything else needs, which may need hooks in its turn. */
export function createHooks(
  parts: HookParts['deps'],
  { send, deps, answerCall, worker, ...options }: HookSurroundings,
): HookSystem {
  const mostRunners = shareOf(parts.config.hooks.max_runners, { workers: parts.config.api.workers, worker });
  const host = new SupervisedRunners(send, mostRunners);
  const memory = new JobMemory(parts);
  const find = (workspace: string, app: string) => deps().definitions.app(workspace, app);
  const times = new CronTimes();
  const keeper = { deps: parts, times, newId: () => deps().newId(), find };
  const peers = new ApiPeers({
    send,
    isAlone: parts.config.api.workers === 1,
    respond: async (text) => {
      const question: HookQuestion = JSON.parse(text);
      return JSON.stringify(await hooks.answerPeer(question));
    },
  });
  const hooks: Runners = new Runners({
    ...options,
    deps: parts,
    host,
    mostRunners,
    peers,
    checker: {
      // Elsewhere nothing would keep imports from the files of the machine.
      check: (what) => deps().sandbox.level === 'os' ? host.check(what) : Promise.resolve({ output: '' }),
    },
    answer: (app, call, context) => answerCall(deps(), app, call, context),
    onLoaded: (loaded) => memory.save(loaded),
    find,
    times,
    // One process keeps it, or every job would run in each of them.
    schedule: worker === 0 ? new Schedule({ ...keeper, hooksOf: (app) => hooks.of(app) }) : undefined,
  });
  return {
    hooks,
    receive(report, handle) {
      if (report.type === 'hooks_changed') hooks.refresh(report);
      else if (report.type === 'peer_asked' || report.type === 'peers_answered') peers.receive(report);
      else host.receive(report, handle);
    },
  };
}

/**
 * What one process may have of the runners: it can stop its own to make room for another, and none of another's, which would
 * keep them all with nothing to do in them.
 */
function shareOf(all: number, { workers, worker }: { workers: number; worker: number }): number {
  return Math.floor(all / workers) + (worker < all % workers ? 1 : 0);
}
