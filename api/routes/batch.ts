// Several writes of records at once.
import { runBatch } from '../records/batch.ts';
import { hookErrors } from '../hooks/errors.ts';
import { route } from '../contract/route.ts';
import {
  anyOf,
  array,
  described,
  fieldMap,
  integer,
  object,
  okResponse,
  oneOf,
  optional,
  string,
} from '../contract/schema.ts';
import { senderOf } from './record-sender.ts';
import { record } from './records.ts';

const maximalWrites = 100;

const request = object({
  method: oneOf(['POST', 'PATCH', 'DELETE']),
  collection: string(),
  id: optional(described(string(), 'The record to change or delete.')),
  body: optional(fieldMap('The same as in a request that creates or changes one record.')),
});

/** Writes several records of an app: all of them, or none. */
export const batch = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps/:app/batch',
  summary: 'Creates, changes and deletes records in one transaction: all of them or none.',
  scope: 'anyone',
  body: object({
    requests: described(
      array(request, { max: maximalWrites }),
      'Run in this order. A later one may point to a record that an earlier one creates.',
    ),
  }),
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
