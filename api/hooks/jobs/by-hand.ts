// An app admin runs a job by hand.
import type { AppDefinition } from '../../../storage/definition.ts';
import { type Caller, readActorName } from '../../audit/actor.ts';
import { auditApp } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import type { JobOutcome, JobRunner } from '../ports.ts';

type RunDeps = Pick<Deps, 'databases' | 'newId' | 'now'> & { hooks: { jobs: JobRunner } };

/**
 * Runs a job now, and returns how that ended. Its audit entry is written before. Throws `404 not_found` for an unknown job,
 * `409 conflict` while it runs, `503` when it cannot begin.
 */
export async function runJobByHand(
  deps: RunDeps,
  app: AppDefinition,
  { name, by }: { name: string; by: Caller },
): Promise<JobOutcome> {
  const { jobs } = deps.hooks;
  await jobs.requireIdle(app, name);
  const actor = await readActorName(deps, by.principal);
  await deps.databases.app(app.workspace.database, app.schema).transaction((sql) =>
    auditApp(sql, deps, { actor, action: 'job_run', target: name, origin: by.origin })
  );
  return await jobs.run(app, { name, requestId: by.origin.requestId });
}
