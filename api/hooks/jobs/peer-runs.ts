// Runs by hand that are asked for in a process that does not keep the schedule: the one that keeps it runs the job.
import { setTimeout as pause } from 'node:timers/promises';
import type { AppDefinition } from '../../../storage/definition.ts';
import { ApiError, fail, toApiError } from '../../errors.ts';
import type { ApiPeers } from '../../process/peers.ts';
import { askPeers } from '../logs/aggregate.ts';
import type { JobOutcome, JobRunner } from '../ports.ts';
import { type JobResult, refused, toOutcome } from './result.ts';

/** The question of one process to the one that keeps the schedule: to begin something, and then, until it has ended, for its result. */
export interface JobQuestion {
  about: 'job';
  step: 'begin' | 'wait';
  /** Identifies what is begun. */
  id: string;
  method: keyof JobRunner;
  workspace: string;
  app: string;
  name: string;
  requestId: string;
}

/** The response to it: without a result while it goes on, null where nothing of this id was begun. */
export type JobResponse = { result?: JobResult<JobOutcome | null> } | null;

/** The supervisor waits twice as long for a response. Milliseconds. */
const responseMs = 500;
/** A response may be lost, and the result then be asked for again. Milliseconds. */
const resultLifeMs = 10_000;
/** Queries in succession without a response, after which the other process is gone. */
const maxUnanswered = 3;

type FindApp = (workspace: string, app: string) => Promise<AppDefinition | undefined>;

/** Has the process that keeps the schedule run jobs. */
export class PeerJobRunner implements JobRunner {
  readonly #peers: Pick<ApiPeers, 'query'>;
  readonly #newId: () => string;

  constructor(peers: Pick<ApiPeers, 'query'>, newId: () => string) {
    this.#peers = peers;
    this.#newId = newId;
  }

  async requireIdle(app: AppDefinition, name: string): Promise<void> {
    await this.#call(app, { method: 'requireIdle', name, requestId: '' });
  }

  async run(app: AppDefinition, job: { name: string; requestId: string }): Promise<JobOutcome> {
    return await this.#call(app, { method: 'run', ...job }) ?? failUnavailable();
  }

  async #call(
    { id: app, workspace }: AppDefinition,
    call: Pick<JobQuestion, 'method' | 'name' | 'requestId'>,
  ): Promise<JobOutcome | null> {
    const whole = { about: 'job', id: this.#newId(), workspace: workspace.id, app, ...call } as const;
    let step: JobQuestion['step'] = 'begin';
    for (let unanswered = 0; unanswered < maxUnanswered; step = 'wait') {
      const question: JobQuestion = { ...whole, step };
      const [response] = await askPeers<NonNullable<JobResponse>>(this.#peers, question);
      if (response?.result !== undefined) return toOutcome(response.result);
      unanswered = response === undefined ? unanswered + 1 : 0;
    }
    return failUnavailable();
  }
}

/** Does what other processes ask for, in the process that keeps the schedule. */
export class PeerRuns {
  readonly #schedule: JobRunner;
  readonly #findApp: FindApp;
  readonly #results = new Map<string, Promise<JobResult<JobOutcome | null>>>();

  constructor(schedule: JobRunner, findApp: FindApp) {
    this.#schedule = schedule;
    this.#findApp = findApp;
  }

  /** Responds to a question. Never throws. */
  async respond(question: JobQuestion): Promise<JobResponse> {
    const { step, id } = question;
    if (step === 'begin') this.#results.set(id, this.#begin(question));
    const result = this.#results.get(id);
    if (result === undefined) return null;
    return await Promise.race([result.then((ended) => ({ result: ended })), pause(responseMs, {})]);
  }

  async #begin(question: JobQuestion): Promise<JobResult<JobOutcome | null>> {
    try {
      return { outcome: await this.#call(question) };
    } catch (error) {
      return refused(toApiError(error));
    } finally {
      setTimeout(() => this.#results.delete(question.id), resultLifeMs).unref();
    }
  }

  async #call({ method, workspace, app: id, ...job }: JobQuestion): Promise<JobOutcome | null> {
    const app = await this.#findApp(workspace, id) ?? fail('app_not_found', 'the app is gone');
    if (method === 'run') return await this.#schedule.run(app, job);
    await this.#schedule.requireIdle(app, job.name);
    return null;
  }
}

function failUnavailable(): never {
  throw new ApiError('unavailable', 'the process that runs jobs does not respond; try again', [[
    'Retry-After',
    '1',
  ]]);
}
