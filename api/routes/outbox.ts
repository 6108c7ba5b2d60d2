// The outbox of a workspace.
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { described, object, optional, pageSchema, string, timestamp } from '../contract/schema.ts';
import { listOutbox } from '../mail/outbox.ts';

const mail = object({
  id: string(),
  to: string(),
  subject: string(),
  text: string(),
  html: optional(string()),
  created_at: timestamp(),
});

/** Lists the mails of a workspace. */
export const outboxList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/outbox',
  summary:
    'Lists the newest 1,000 mails of a workspace, newest first, with their codes and tokens. Only where mail goes to the outbox.',
  scope: 'master',
  key: 'outbox:read',
  query: object({
    ...pageQueryMembers,
    to: described(optional(string({ max: 320 })), 'Only mails to this address.'),
  }),
  status: 200,
  response: pageSchema(mail),
  handle: async ({ deps, target, query }) =>
    await listOutbox(deps, target.workspace, { to: query.to, page: toPageRequest(query) }),
});
