// Several writes of records at once.
import { runBatch } from '../records/batch.ts';
import { hookErrors } from '../hooks/errors.ts';
import { route } from '../contract/route.ts';
import { anyOf, array, described, integer, object, okResponse } from '../contract/schema.ts';
import { batchBody } from '../records/input/batch-requests.ts';
import { senderOf } from './record-sender.ts';
import { record } from './record-response.ts';

/** Writes several records of an app: all of them, or none. */
export const batch = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps/:app/batch',
  summary: 'Creates, changes and deletes records in one transaction: all of them or none.',
  scope: 'anyone',
  key: 'records:write',
  body: batchBody,
  status: 200,
  response: object({
    results: described(
      array(object({ status: integer({ min: 200, max: 201 }), body: anyOf(record, okResponse) })),
      'For each write, the response that it would get by itself. An error names its request: `requests.3: …`.',
    ),
  }),
  errors: ['conflict', ...hookErrors],
  handle: ({ deps, target: { app }, principal, body: { requests }, origin, now, queryParameters }) =>
    runBatch(deps, app, {
      requests,
      origin,
      asking: { principal, now, query: queryParameters() },
      caller: senderOf({ deps, target: { app }, principal, origin }),
    }),
});
