// Several writes of records at once.
import { runBatch } from '../records/batch.ts';
import { hookErrors } from '../hooks/errors.ts';
import { route } from '../contract/route.ts';
import {
  described,
  done,
  either,
  fieldMap,
  integer,
  list,
  object,
  oneOf,
  optional,
  text,
} from '../contract/schema.ts';
import { record, senderOf } from './records.ts';

const maximalWrites = 100;

const request = object({
  method: oneOf(['POST', 'PATCH', 'DELETE']),
  collection: text(),
  id: optional(described(text(), 'The record to change or delete.')),
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
      list(request, { max: maximalWrites }),
      'Run in this order. A later one may point to a record that an earlier one creates.',
    ),
  }),
  status: 200,
  response: object({
    results: described(
      list(object({ status: integer({ min: 200, max: 201 }), body: either(record, done) })),
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
