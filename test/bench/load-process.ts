// Load comes from processes of their own, so that what it costs to make is measured with nothing else. Both ends of their
// channel: a plan goes out, and its result comes back.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

type ApiResponse<Result> = { type: 'result'; result: Result } | { type: 'failed'; reason: string };

/** A process that carries out one plan at a time. */
export interface LoadProcess<Plan, Result> {
  /** Throws what the process has failed of, or that it has ended. */
  run(plan: Plan): Promise<Result>;
  stop(): Promise<void>;
}

/** Starts a program of this folder that calls `carryOut`. */
export function startLoadProcess<Plan extends object, Result>(program: string): LoadProcess<Plan, Result> {
  const child = fork(new URL(program, import.meta.url), { detached: true });
  return {
    async run(plan) {
      const response = nextResponse<Result>(child, program);
      child.send(plan);
      const message = await response;
      if (message.type === 'failed') throw new Error(`${program}: ${message.reason}`);
      return message.result;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** In such a process: carries out the plans that come, until the other end is gone. */
export function carryOut<Plan, Result>(run: (plan: Plan) => Promise<Result>): void {
  process.once('disconnect', () => process.exit());
  process.on('message', (plan: Plan) => {
    const response = (message: ApiResponse<Result>) => process.send?.(message);
    run(plan).then(
      (result) => response({ type: 'result', result }),
      (error: unknown) =>
        response({ type: 'failed', reason: error instanceof Error ? error.message : String(error) }),
    );
  });
}

function nextResponse<Result>(child: ChildProcess, program: string): Promise<ApiResponse<Result>> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${program} ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      // Both ends of this channel are ours.
      resolve(message as ApiResponse<Result>);
    });
  });
}
