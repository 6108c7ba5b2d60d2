// Reading the audit logs.
import {
  type AuditEntry,
  type AuditFilter,
  listApp,
  listSystem,
  listWorkspace,
} from '../../storage/audit-log.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import type { Page, PageRequest } from '../../storage/page.ts';
import type { Deps } from '../deps.ts';

type QueryDeps = Pick<Deps, 'databases'>;

/** Entries of the system scope, newest first. */
export async function querySystemAudit(
  { databases }: QueryDeps,
  filter: AuditFilter,
  page: PageRequest,
): Promise<Page<AuditEntry>> {
  return await databases.control.run((sql) => listSystem(sql, filter, page));
}

/** Entries of a workspace and its apps, newest first. */
export async function queryWorkspaceAudit(
  { databases }: QueryDeps,
  { database }: WorkspaceDefinition,
  { filter, page }: { filter: AuditFilter; page: PageRequest },
): Promise<Page<AuditEntry>> {
  return await databases.workspace(database).run((sql) => listWorkspace(sql, filter, page));
}

/** Entries of one app, newest first. */
export async function queryAppAudit(
  { databases }: QueryDeps,
  { workspace: { database }, schema }: AppDefinition,
  { filter, page }: { filter: AuditFilter; page: PageRequest },
): Promise<Page<AuditEntry>> {
  return await databases.workspace(database).run((sql) => listApp(sql, { ...filter, schema }, page));
}
