// The hooks of this process, put together.
import type { PeerReport, PeerRequest, RunnerReport, RunnerRequest } from '../../supervisor/protocol.ts';
import type { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../deps.ts';
import { ApiPeers } from '../process/peers.ts';
import type { AppHooksOptions } from './app-hooks.ts';
import { VersionStore } from './files/versions.ts';
import { type JobQuestion, PeerRuns } from './jobs/peer-runs.ts';
import { RegisteredJobs } from './jobs/registered-jobs.ts';
import { CronTimes } from './jobs/times.ts';
import { Schedule } from './jobs/schedule.ts';
import type { PeerQuestion } from './logs/aggregate.ts';
import { LogShares } from './logs/log-shares.ts';
import { terminalPrinter } from './logs/terminal.ts';
import { SupervisedRunners } from './pool/host.ts';
import { HookRunners } from './runners.ts';

/** The dependencies of hooks, and the listeners that they need. */
export interface HookSystem {
  hooks: HookRunners;
  /** Takes what the supervisor says; `handle` is what came with the message. */
  receive(report: RunnerReport | PeerReport, handle: unknown): void;
}

interface HookSystemOptions {
  /** To the supervisor. */
  send: (request: RunnerRequest | PeerRequest) => void;
  deps: () => Deps;
  /** Carries out a call of hook code: the calls of `$app` stand above the features that they use. */
  handleCall: (deps: Deps, ...call: Parameters<AppHooksOptions['handleCall']>) => Promise<unknown>;
  worker: number;
  /** See `HookParts`; of as many at once as a core has time for unless it is given. */
  starts?: FairQueue;
}

/** Builds the hooks. `deps` holds what everything else needs, which may need hooks in its turn. */
export function createHooks(
  parts: AppHooksOptions['deps'] & Pick<Deps, 'spentShares'>,
  { send, deps, handleCall, worker, ...options }: HookSystemOptions,
): HookSystem {
  const { api: { workers }, hooks: { max_runners } } = parts.config;
  const maxRunners = workerShare(max_runners, { workers, worker });
  const noteSpent = (workspace: string) => parts.spentShares.note({ share: 'hooks.max_runners', workspace });
  const host = new SupervisedRunners(send, maxRunners, noteSpent);
  const jobs = new RegisteredJobs(parts);
  const versions = new VersionStore(parts);
  const findApp = (workspace: string, app: string) => deps().definitions.app(workspace, app);
  const times = new CronTimes();
  const keeper = { deps: parts, times, newId: () => deps().newId(), findApp };
  // One process keeps it, or every job would run in each of them.
  const schedule = worker === 0 ? new Schedule({ ...keeper, getHooks: (app) => hooks.get(app) }) : undefined;
  const peerRuns = schedule === undefined ? undefined : new PeerRuns(schedule, findApp);
  const peers = new ApiPeers({
    send,
    isAlone: workers === 1,
    respond: async (text) => {
      const question: PeerQuestion | JobQuestion = JSON.parse(text);
      if (question.about === 'job') return JSON.stringify(await peerRuns?.respond(question) ?? null);
      return JSON.stringify(await hooks.respondToPeer(question));
    },
  });
  const hooks: HookRunners = new HookRunners({
    ...options,
    deps: parts,
    host,
    maxRunners,
    logs: new LogShares({ ...parts, workers }),
    peers,
    checker: {
      // Elsewhere nothing would keep imports from the files of the machine.
      check: (what) => deps().sandbox.level === 'os' ? host.check(what) : Promise.resolve({ output: '' }),
    },
    handleCall: (app, call, context) => handleCall(deps(), app, call, context),
    print: terminalPrinter(parts),
    onLoaded: (loaded) => Promise.all([jobs.save(loaded), versions.save(loaded)]),
    ...{ findApp, times, schedule },
  });
  return {
    hooks,
    receive(report, handle) {
      if (report.type === 'hooks_changed') hooks.refresh(report);
      else if (report.type === 'peer_asked' || report.type === 'peers_responded') peers.receive(report);
      else host.receive(report, handle);
    },
  };
}

/**
 * The runners of one process: it can stop its own to make room for another, and none of another's, which would
 * keep them all with nothing to do in them.
 */
function workerShare(all: number, { workers, worker }: { workers: number; worker: number }): number {
  return Math.floor(all / workers) + (worker < all % workers ? 1 : 0);
}
