// Measures what a workspace or an app stores, and how much it was used, for each request.
import { countApps, listSchemas } from '../../storage/workspace/apps.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import {
  appRunner,
  countAppRecords,
  countUsers,
  databaseBytes,
  findLargeTables,
  readAppShare,
  readAppSize,
  sumActivity,
  sumMails,
} from '../../storage/control/usage.ts';
import type { Deps } from '../deps.ts';
import { readDatabaseLimits } from '../policies/database-limits.ts';
import { boolean, described, integer, nullable, object, type ValueOf } from '../contract/schema.ts';
import type { TenantPath } from '../scope.ts';
import { type ActivityMeter, beginningOfDay } from './activity.ts';
import { type Quota, quotaLimit } from './quota.ts';

const count = () => integer({ min: 0 });
const quota = () => nullable(count());

/** The usage of a workspace or an app, as responses show it. */
export const usageResponse = object({
  database_bytes: described(
    count(),
    'For an app, its tables and indexes; for a workspace, its whole database.',
  ),
  records: count(),
  records_exact: described(
    boolean(),
    'False if a collection has millions of records: their number is then an estimate from statistics.',
  ),
  files: count(),
  file_bytes: count(),
  collections: count(),
  apps: described(count(), 'Apps of the workspace.'),
  users: described(count(), 'End-users of the workspace; all its apps share them.'),
  mails_24h: described(count(), 'Mails that the workspace sent, in the current hour and the 23 before it.'),
  requests_24h: described(count(), 'Requests to apps, in the same time.'),
  hook_runs_24h: described(count(), 'Runs of hooks, in the same time.'),
  hook_cpu_ms_24h: described(count(), 'CPU time that hooks took, in milliseconds, in the same time.'),
  hook_memory_bytes: described(count(), 'Memory that hook processes use now.'),
  quotas: described(
    object({
      storage_mb: described(quota(), 'Of the app or the workspace whose usage this is.'),
      upload_mb_per_sec: quota(),
      records: quota(),
      files: quota(),
      collections: quota(),
      apps: quota(),
      streams: quota(),
      log_mb: quota(),
      users: quota(),
      mails_per_hour: quota(),
      mails_per_client_hour: quota(),
      requests_per_sec: quota(),
      database_work_mem_mb: count(),
      database_temp_file_mb: count(),
      database_statement_timeout_ms: count(),
    }),
    'The quotas in effect here; null: no limit.',
  ),
});

type Usage = ValueOf<typeof usageResponse>;
type Stored = Pick<
  Usage,
  'database_bytes' | 'records' | 'records_exact' | 'files' | 'file_bytes' | 'collections'
>;
type Activities = 'mails_24h' | 'requests_24h' | 'hook_runs_24h' | 'hook_cpu_ms_24h' | 'hook_memory_bytes';
type Shared = Pick<Usage, 'users' | 'apps'>;
type ShowDeps = Pick<Deps, 'databases' | 'policies' | 'hooks' | 'now'> & { activity: ActivityMeter };

/** Measures the usage of an app. Throws `StorageError`. */
export async function appUsage(deps: ShowDeps, app: AppDefinition): Promise<Usage> {
  const { workspace } = app;
  const at = { workspace: workspace.id, app: app.id };
  return {
    ...await readStored(deps, app),
    ...await readShared(deps, workspace),
    ...await readUse(deps, at, { schema: app.schema }),
  };
}

/**
 * Measures the usage of a workspace, the sum of that of its apps. These are measured one after another on the provisioner's
 * connections, so no app needs connections of its own. Throws `StorageError`.
 */
export async function workspaceUsage(
  deps: ShowDeps,
  { id, database }: WorkspaceDefinition,
): Promise<Usage> {
  const pool = deps.databases.workspace(database);
  const total: Stored = {
    database_bytes: await pool.run(databaseBytes),
    records: 0,
    records_exact: true,
    files: 0,
    file_bytes: 0,
    collections: 0,
  };
  const large = await pool.run((sql) => findLargeTables(sql));
  const provisioner = deps.databases.provisioner(database);
  for (const schema of await pool.run(listSchemas)) {
    const share = await readAppShare(appRunner(provisioner, schema), schema, large);
    if (share === undefined) continue;
    total.records += share.records;
    total.records_exact &&= share.exact;
    total.files += share.files;
    total.file_bytes += share.file_bytes;
    total.collections += share.collections;
  }
  return {
    ...total,
    ...await readShared(deps, { database }),
    ...await readUse(deps, { workspace: id }),
  };
}

/** What all apps of a workspace share. */
async function readShared(
  { databases }: ShowDeps,
  { database }: Pick<WorkspaceDefinition, 'database'>,
): Promise<Shared> {
  return await databases.workspace(database).run(async (sql) => ({
    users: await countUsers(sql),
    apps: await countApps(sql),
  }));
}

async function readStored(
  { databases }: ShowDeps,
  { workspace: { database }, schema, collections }: AppDefinition,
): Promise<Stored> {
  const pool = databases.app(database, schema);
  const { records, exact } = await countAppRecords((work) => pool.run(work), schema, [...collections.keys()]);
  const size = await pool.run((sql) => readAppSize(sql, schema));
  return { ...size, records, records_exact: exact, collections: collections.size };
}

async function readUse(
  { databases, policies, activity, hooks, now }: ShowDeps,
  at: TenantPath & { workspace: string },
  only: { schema?: string } = {},
): Promise<Pick<Usage, Activities | 'quotas'>> {
  await activity.flush();
  const period = { workspace: at.workspace, since: beginningOfDay(now()) };
  const { requests, hook_runs, hook_cpu_ms } = await databases.control.run((sql) =>
    sumActivity(sql, { ...period, ...only })
  );
  const { work_mem_mb, temp_file_mb, statement_timeout_ms } = await readDatabaseLimits(
    policies,
    at.workspace,
  );
  const limit = async (name: Quota) => await quotaLimit(policies, name, at) ?? null;
  return {
    mails_24h: await databases.control.run((sql) => sumMails(sql, period)),
    requests_24h: requests,
    hook_runs_24h: hook_runs,
    hook_cpu_ms_24h: hook_cpu_ms,
    hook_memory_bytes: await hooks.memoryOf(at),
    quotas: {
      storage_mb: await limit('quota.storage_mb'),
      upload_mb_per_sec: await limit('quota.upload_mb_per_sec'),
      records: await limit('quota.records'),
      files: await limit('quota.files'),
      collections: await limit('quota.collections'),
      apps: await limit('quota.apps'),
      streams: await limit('quota.streams'),
      log_mb: await limit('quota.log_mb'),
      users: await limit('quota.users'),
      mails_per_hour: await limit('quota.mails_per_hour'),
      mails_per_client_hour: await limit('quota.mails_per_client_hour'),
      requests_per_sec: await limit('quota.requests_per_sec'),
      database_work_mem_mb: work_mem_mb,
      database_temp_file_mb: temp_file_mb,
      database_statement_timeout_ms: statement_timeout_ms,
    },
  };
}
