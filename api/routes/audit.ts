// The audit logs of the three scopes.
import { type AuditRequest, queryAudit } from '../audit/query.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import {
  described,
  fieldMap,
  object,
  oneOf,
  optional,
  pageSchema,
  string,
  timestamp,
  type ValueOf,
} from '../contract/schema.ts';

const query = object({
  ...pageQueryMembers,
  action: described(optional(string({ max: 200 })), 'A part of the action, in upper or lower case.'),
  actor: described(optional(string({ max: 400 })), 'The whole name of the actor.'),
  format: described(
    optional(oneOf(['json', 'jsonl'])),
    'jsonl: all entries that match, one a line (application/x-ndjson), newest first, without pages.',
  ),
});

function auditRequest({ action, actor, format, ...page }: ValueOf<typeof query>): AuditRequest {
  // An empty parameter, as of an empty form field, counts as absent.
  return { filter: { action, actor: actor === '' ? undefined : actor }, page: toPageRequest(page), format };
}

const rawTypes = {
  'application/x-ndjson': 'With `format=jsonl`: one entry a line, as JSON.',
} as const;

const entries = pageSchema(object({
  id: string({ format: 'uuid' }),
  ts: timestamp(),
  actor: string(),
  action: string(),
  target: string(),
  details: fieldMap('Everything else that was recorded.'),
}));

/** Reads the log of the system. */
export const systemAudit = route({
  method: 'GET',
  path: '/api/system/audit',
  summary: 'Returns the audit log of the server and its workspaces, newest first.',
  scope: 'master',
  key: 'audit:read',
  query,
  status: 200,
  response: entries,
  rawTypes,
  handle: ({ deps, query }) => queryAudit(deps, 'system', auditRequest(query)),
});

/** Reads the log of a workspace. */
export const workspaceAudit = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/audit',
  summary: 'Returns the audit log of a workspace and its apps, newest first.',
  scope: 'workspace_admin',
  key: 'audit:read',
  query,
  status: 200,
  response: entries,
  rawTypes,
  handle: ({ deps, target: { workspace }, query }) => queryAudit(deps, { workspace }, auditRequest(query)),
});

/** Reads the log of an app. */
export const appAudit = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/audit',
  summary: 'Returns the audit log of an app, newest first.',
  scope: 'app_admin',
  key: 'audit:read',
  query,
  status: 200,
  response: entries,
  rawTypes,
  handle: ({ deps, target: { app }, query }) => queryAudit(deps, { app }, auditRequest(query)),
});
