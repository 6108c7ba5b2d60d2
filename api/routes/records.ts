// Records of a collection.
import { writeByBody } from '../files/form/record-form.ts';
import { hookErrors } from '../hooks/errors.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { aggregateRecords } from '../records/aggregate.ts';
import { createRecord } from '../records/create.ts';
import { getRecord, requireRecord } from '../records/get.ts';
import { listRecords } from '../records/list.ts';
import { refuseSearch } from '../records/search/parameter.ts';
import { removeRecord } from '../records/remove.ts';
import { updateRecord } from '../records/update.ts';
import { upsertRecord } from '../records/upsert/upsert.ts';
import { route } from '../contract/route.ts';
import { record } from './record-response.ts';
import { senderOf } from './record-sender.ts';
import { admit } from '../rules/access.ts';
import {
  array,
  described,
  fieldMap,
  nullable,
  object,
  okResponse,
  optional,
  pageMembers,
  string,
} from '../contract/schema.ts';

const selection = {
  fields: described(
    optional(string()),
    'The fields and timestamps to return, separated by commas; default all.',
  ),
  expand: described(
    optional(string()),
    'Relations and fields of files, separated by commas, whose records and files are added under `expand`. `author.company` follows a second ' +
      'relation; at most three in a row. `comments_via_issue` adds the records of `comments` whose `issue` is this ' +
      'record: the 100 oldest.',
  ),
};

const filter = described(
  optional(string()),
  'A filter expression. Only records that pass it are included.',
);

/** Lists records. */
export const recordsList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/records',
  summary: 'Lists the records of a collection.',
  scope: 'anyone',
  key: 'records:read',
  query: object({
    ...pageQueryMembers,
    ...selection,
    sort: described(
      optional(string()),
      'Fields to sort by, separated by commas; a `-` before a field means descending order.',
    ),
    filter,
    search: described(
      optional(string()),
      'Words that the records must have, the last of which may be the beginning of one: at most 20, in 200 characters. If no ' +
        'record has them, words with typing errors count. `sort=-@rank` puts the best of the newest 1,000 first.',
    ),
    cursor: described(
      optional(string()),
      'The `next_cursor` of the page before, in the place of `page`; of the same `sort`, `filter` and `search`.',
    ),
  }),
  status: 200,
  response: object({
    ...pageMembers(record),
    next_cursor: described(nullable(string()), 'The `cursor` of the next page; null at the end.'),
  }),
  errors: ['unknown_column', 'parse_error', 'conflict'],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'list', { principal, now, query: queryParameters() }),
  handle: (
    {
      deps,
      target,
      admitted: access,
      query: { sort, fields, filter, search, expand, cursor, ...page },
      pageMemory,
    },
  ) => {
    const memory = pageMemory();
    return listRecords(deps, target, {
      access,
      page: toPageRequest(page),
      cursor,
      sort,
      fields,
      filter,
      search,
      expand,
      memory,
    });
  },
});

const group = fieldMap(
  '`group` with the values that make the group, and each function under its own name, such as `count` and `sum(total)`. ' +
    'Null where no record has a value.',
);

/** Aggregates records. */
export const recordsAggregate = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/records/aggregate',
  summary:
    'Counts the records that the caller may list, and computes sums, averages, least and greatest values.',
  scope: 'anyone',
  key: 'records:read',
  query: object({
    fn: described(
      string(),
      'Functions, separated by commas: `count`, and `sum`, `avg`, `min` and `max` of a field, as in `sum(total)`.',
    ),
    group: described(
      optional(string()),
      'Fields, separated by commas: the records with equal values make a group. At most 1,000 groups.',
    ),
    filter,
  }),
  status: 200,
  response: object({ items: array(group, { max: 1_000 }) }),
  errors: ['unknown_column', 'parse_error', 'conflict'],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'list', { principal, now, query: queryParameters() }),
  handle: ({ deps, target, admitted: access, query, pageMemory, queryParameters }) => {
    refuseSearch(queryParameters().search, 'aggregates');
    return aggregateRecords(deps, target, { access, ...query, memory: pageMemory() });
  },
});

/** Creates a record. */
export const recordsCreate = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/records',
  summary: 'Creates a record.',
  scope: 'anyone',
  key: 'records:write',
  query: object({
    on_conflict: described(
      optional(string({ min: 1, max: 1_000 })),
      'A unique field, or the fields of a unique index, separated by commas: a record with the same values is updated.',
    ),
  }),
  body: fieldMap('Values of the fields, and optionally an `id`. A retry with the same `id` gets 409.'),
  acceptsForm: true,
  status: 201,
  response: record,
  otherResponses: { 200: record },
  errors: ['conflict', ...hookErrors],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'create', { principal, now, query: queryParameters() }),
  handle: async (
    { deps, target, admitted, body, form, query, principal, origin, now, overrides, ...rest },
  ) => {
    const caller = senderOf({ deps, target, principal, origin });
    return await writeByBody(deps, target, { body, form, caller, now }, async ({ input, uploaded }) => {
      const creation = { access: { ...admitted, uploaded }, input, origin, now, caller };
      if (query.on_conflict === undefined) return await createRecord(deps, target, creation);
      const asking = { principal, now, query: rest.queryParameters() };
      const { record, isNew } = await upsertRecord(deps, target, {
        ...creation,
        onConflict: query.on_conflict,
        admitUpdate: async () => ({ ...await admit(deps, target, 'update', asking), uploaded }),
      });
      if (!isNew) overrides.status = 200;
      return record;
    });
  },
});

/** Shows a record. */
export const recordsGet = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/records/:id',
  summary: 'Returns a record.',
  scope: 'anyone',
  key: 'records:read',
  query: object(selection),
  status: 200,
  response: record,
  errors: ['unknown_column', 'conflict'],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'get', { principal, now, query: queryParameters() }),
  handle: ({ deps, target, admitted: access, params: { id }, query: { fields, expand }, pageMemory }) =>
    getRecord(deps, target, { access, id, fields, expand, memory: pageMemory() }),
});

/** Changes fields of a record. */
export const recordsUpdate = route({
  method: 'PATCH',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/records/:id',
  summary: 'Changes some fields of a record.',
  scope: 'anyone',
  key: 'records:write',
  body: fieldMap(
    'The fields to change. Null clears a field. `"count+": 1` and `"count-": 1` change a number from what it is, ' +
      '`"tags+": ["a"]` and `"tags-": ["a"]` the items of a field of many.',
  ),
  acceptsForm: true,
  status: 200,
  response: record,
  errors: ['conflict', ...hookErrors],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'update', { principal, now, query: queryParameters() }),
  requireTarget: ({ deps, target, params: { id } }) => requireRecord(deps, target, id),
  handle: async ({ deps, target, admitted, params: { id }, body, form, principal, origin, now }) => {
    const caller = senderOf({ deps, target, principal, origin });
    if (form !== undefined) await requireRecord(deps, target, id);
    return await writeByBody(deps, target, { body, form, caller, now }, ({ input, uploaded }) => {
      const access = { ...admitted, uploaded };
      return updateRecord(deps, target, { access, id, input, now, caller });
    });
  },
});

/** Deletes a record. */
export const recordsRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/records/:id',
  summary: 'Deletes a record.',
  scope: 'anyone',
  key: 'records:write',
  status: 200,
  response: okResponse,
  errors: ['conflict', ...hookErrors],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'delete', { principal, now, query: queryParameters() }),
  handle: ({ deps, target, admitted: access, params: { id }, principal, origin, now }) => {
    const caller = senderOf({ deps, target, principal, origin });
    return removeRecord(deps, target, { access, id, now, caller });
  },
});
