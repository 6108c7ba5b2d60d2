// Live changes of records: as Server-Sent Events of one collection, and as a WebSocket of many.
import { fail } from '../errors.ts';
import { refuseSearch } from '../records/search/parameter.ts';
import { serveEvents } from '../realtime/delivery/sse.ts';
import { RawResponse, route } from '../contract/route.ts';
import { described, object, optional, string } from '../contract/schema.ts';
import { quotaLimit } from '../usage/quota.ts';

/** Streams the events of a collection. */
export const collectionEvents = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/events',
  summary:
    'Streams changes of the records that the `list` rule lets the caller see, as Server-Sent Events. With ' +
    '`Last-Event-ID`, missed events come first.',
  scope: 'anyone',
  key: 'records:read',
  query: object({
    filter: described(
      optional(string()),
      'A filter expression. Only records that pass it are included.',
    ),
  }),
  headers: {
    'Last-Event-ID': 'The `id` of the last event that was received. Events missed since then come first.',
  },
  status: 200,
  contentType: 'text/event-stream',
  response: described(
    string(),
    'Events `record_created`, `record_updated` and `record_deleted`, each with the record as JSON; `reset` when ' +
      'missed events are no longer available; `unauthorized` as the last event when the caller may no longer read ' +
      'the stream.',
  ),
  errors: ['unknown_column', 'parse_error'],
  handle: ({ deps, params, principal, query: { filter }, queryParameters }) =>
    new RawResponse(async ({ response, headers, address }) => {
      const { filter: _filter, ...query } = queryParameters();
      refuseSearch(query.search, 'streams');
      const lastEventId = response.req.headers['last-event-id'];
      const { workspace, app } = params;
      const max = await quotaLimit(deps.policies, 'quota.streams', { workspace });
      await serveEvents(deps.realtime, {
        response,
        topic: { workspace, app, collection: params.coll },
        holder: { principal, address, query, workspace: { id: workspace, max } },
        filter,
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        headers,
      });
    }),
});

/** The path of WebSockets. Handles requests that are no upgrade. */
export const appRealtime = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/realtime',
  summary: 'Opens a WebSocket for changes of many collections.',
  scope: 'anyone',
  key: 'records:read',
  status: 101,
  response: string(),
  errors: ['validation'],
  handle: (): never => fail('validation', 'Upgrade: this path is for WebSockets (RFC 6455 version 13)'),
});
