// Starts the runners of one app, each with some versions of its files.
import type { CallFrame, SourceFile } from '../../../hook-runner/protocol.ts';
import type { FairQueue } from '../../../storage/concurrency/fair-queue.ts';
import type { AppIdentity } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import { logFailure } from '../../logging/events.ts';
import { type CodeSnapshot, runnerPrint } from '../files/code-snapshot.ts';
import { toFileFault } from '../files/faults.ts';
import type { HookLog } from '../logs/log.ts';
import type { ChannelEnd } from '../rpc/invocation.ts';
import type { CodeOpener } from './best-code.ts';
import { type CallContext, Generation } from './generation.ts';
import type { SupervisedRunners } from './host.ts';
import { Quarantine } from './quarantine.ts';
import type { RunLimit } from './run-limit.ts';
import { retryWhileFull } from './start-retry.ts';
import { planRunner } from './workspace-share.ts';

/** The dependencies of runners that all apps share. */
export interface RunnerParts {
  deps: Pick<Deps, 'policies' | 'activity' | 'observe'>;
  host: SupervisedRunners;
  /** Of processes; loading code is no part of it. */
  starts: FairQueue;
  /** Does what hook code of an app asks for. Throws `ApiError`. */
  handleCall: (app: AppIdentity, call: CallFrame, context: CallContext) => Promise<unknown>;
  /** Called before a runner of an app of this workspace is started: another may have to go. */
  evict: (workspace: string) => void;
}

/** One app's part of it. */
export interface AppParts {
  app: AppIdentity;
  limit: RunLimit;
  log: HookLog;
  /** The runner that is there now. */
  live: () => Generation | undefined;
  onEnd: (end: ChannelEnd, message: string) => void;
}

/** The runners that an app's code is opened in. */
export class AppOpener {
  /** Files that are left out of loads. */
  readonly quarantine = new Quarantine();
  readonly #shared: RunnerParts;
  readonly #own: AppParts;
  #generations = 0;

  constructor(shared: RunnerParts, own: AppParts) {
    this.#shared = shared;
    this.#own = own;
  }

  /** For the files of a snapshot, and older versions of them. */
  opener(snapshot: CodeSnapshot): CodeOpener {
    const { live } = this.#own;
    const older = new Map(snapshot.versions.map(({ file, source }) => [file, source]));
    const hasOlder = ({ file, source }: SourceFile) => (older.get(file) ?? source) !== source;
    return {
      open: async (versions, isFirst) => {
        const files = versions.map(({ file, source }) => ({ file, source }));
        const generation = await this.quarantine.open(files, async (chosen) => {
          const before = live();
          // What ran before a file was changed to one that does not load runs on.
          const isSame = before?.isOpen === true && before.fingerprint === runnerPrint(chosen, snapshot);
          return isSame && !isFirst ? before : await this.#start(chosen, snapshot);
        }, hasOlder);
        const faults = generation?.loaded.errors.map(toFileFault) ?? [];
        return { generation, faults: [...this.quarantine.faults(files), ...faults] };
      },
      discard: (generation) => {
        if (generation !== live()) generation?.close();
      },
    };
  }

  #start(files: readonly SourceFile[], snapshot: CodeSnapshot): Promise<Generation> {
    const { env, cronMinSec } = snapshot;
    const { deps, host, starts, handleCall, evict } = this.#shared;
    const { app, limit, log, onEnd } = this.#own;
    const { workspace: { id: workspace }, id } = app;
    const start = async () =>
      Generation.open({
        host,
        starts,
        runner: await planRunner(deps, app),
        load: { workspace, app: id, generation: ++this.#generations, files, env },
        fingerprint: runnerPrint(files, snapshot),
        limits: { timeoutMs: (await limit.find()).timeoutMs, cronMinSec },
        handleCall: (call, context) => handleCall(app, call, context),
        onLog: (line, request_id) => log.add({ ...line, request_id }),
        onOutput: (message) => log.add({ level: 'info', message }),
        onEnd,
        report: logFailure(deps, 'respond to a hook'),
      });
    return retryWhileFull(() => evict(workspace), start);
  }
}
