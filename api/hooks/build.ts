// The hooks of this process, put together.
import type { RunnerReport, RunnerRequest } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import { answerCall } from './calls.ts';
import { SupervisedRunners } from './host.ts';
import { Runners } from './runners.ts';

/** What makes hooks run, and what must be told of the world. */
export interface HookSystem {
  hooks: Runners;
  /** Takes what the supervisor says; `handle` is what came with the message. */
  receive(report: RunnerReport, handle: unknown): void;
}

/** Makes it. `deps` answers what everything else needs, which may need hooks in its turn. */
export function createHooks(
  parts: Pick<Deps, 'config' | 'databases' | 'secrets' | 'policies' | 'activity' | 'now' | 'observe'>,
  { send, deps }: { send: (request: RunnerRequest) => void; deps: () => Deps },
): HookSystem {
  const host = new SupervisedRunners(send);
  const hooks = new Runners({
    deps: parts,
    host,
    answer: (app, call, context) => answerCall(deps(), app, call, context),
    onLoaded: () => {},
    find: (workspace, app) => deps().definitions.app(workspace, app),
  });
  return {
    hooks,
    receive(report, handle) {
      if (report.type === 'hooks_changed') hooks.refresh(report);
      else host.receive(report, handle);
    },
  };
}
