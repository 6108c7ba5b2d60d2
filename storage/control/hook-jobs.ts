// Rows of control.hook_jobs: the scheduled jobs of apps whose hooks have any.
import type { Sql } from '../connections/pool.ts';
import { jsonb } from '../sql/jsonb.ts';

/** A job as its code registered it. */
export interface HookJob {
  name: string;
  /** A cron expression, in UTC. */
  expression: string;
}

/** The jobs of one app. */
export interface AppJobs {
  workspace: string;
  app: string;
  schema: string;
  jobs: readonly HookJob[];
}

/** Sets the jobs of an app; true when they were others. Does nothing for a deleted workspace. */
export async function saveHookJobs(sql: Sql, { workspace, app, schema, jobs }: AppJobs): Promise<boolean> {
  if (jobs.length === 0) return await removeHookJobs(sql, schema);
  const written = await sql`
    insert into control.hook_jobs as known (schema, workspace, app, jobs)
    select ${schema}, id, ${app}, ${jsonb(sql, jobs)} from control.workspaces where id = ${workspace}
    on conflict (schema) do update set jobs = excluded.jobs where known.jobs <> excluded.jobs`;
  return written.count === 1;
}

/** Removes the jobs of an app; false when it had none. */
export async function removeHookJobs(sql: Sql, schema: string): Promise<boolean> {
  const removed = await sql`delete from control.hook_jobs where schema = ${schema}`;
  return removed.count === 1;
}

/** The jobs of all apps, or of those with these ids: an app, and perhaps earlier ones that are being removed. */
export async function listHookJobs(
  sql: Sql,
  only?: { workspace: string; app: string },
): Promise<AppJobs[]> {
  const wanted = only === undefined ? sql`true` : sql`workspace = ${only.workspace} and app = ${only.app}`;
  return [
    ...await sql<AppJobs[]>`select workspace, app, schema, jobs from control.hook_jobs where ${wanted}`,
  ];
}
