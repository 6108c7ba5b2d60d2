// Reading the audit logs.
import {
  type AuditEntry,
  type AuditFilter,
  type AuditQuery,
  type AuditScope,
  listAudit,
} from '../../storage/audit/listing.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import type { Deps } from '../deps.ts';
import type { RawResponse } from '../contract/route.ts';
import { exportAudit } from './export.ts';

/** The log that is read. */
export type AuditPlace = { workspace: WorkspaceDefinition } | { app: AppDefinition } | 'system';

/** A request for entries: one page, newest first, or all of them as JSON Lines. */
export interface AuditRequest {
  filter: AuditFilter;
  page: PageRequest;
  format?: 'json' | 'jsonl' | undefined;
}

/** Reads the entries of one scope. */
export function queryAudit(
  deps: Pick<Deps, 'databases' | 'observe'>,
  place: AuditPlace,
  { filter, page, format }: AuditRequest,
): Promise<Page<AuditEntry>> | RawResponse {
  const { connection, scope } = findLog(deps, place);
  const query: AuditQuery = { scope, filter };
  if (format === 'jsonl') return exportAudit(deps, connection, query);
  return connection.run((sql) => listAudit(sql, query, page));
}

function findLog(
  { databases }: Pick<Deps, 'databases'>,
  place: AuditPlace,
): { connection: Connection; scope: AuditScope } {
  if (place === 'system') return { connection: databases.control, scope: { schema: 'control' } };
  if ('workspace' in place) {
    return { connection: databases.workspace(place.workspace.database), scope: { schema: 'workspace' } };
  }
  const { workspace: { database }, schema } = place.app;
  return { connection: databases.workspace(database), scope: { schema: 'workspace', appSchema: schema } };
}
