// Records of a collection as files: export and import.
import { requireStillAdmitted } from '../auth/sessions/still-admitted.ts';
import { route } from '../contract/route.ts';
import { array, boolean, described, integer, object, oneOf, optional, string } from '../contract/schema.ts';
import { errorBody, fail, fieldsError } from '../errors.ts';
import { requireUncoded } from '../files/media-type.ts';
import { exportRecords } from '../records/transfer/export.ts';
import { importRecords } from '../records/transfer/import.ts';
import { formatOfType, transferFormats } from '../records/transfer/lines.ts';
import { admit } from '../rules/access.ts';

const records = '/api/workspaces/:workspace/apps/:app/collections/:coll/records';

/** Exports records. */
export const recordsExport = route({
  method: 'GET',
  path: `${records}/export`,
  summary:
    'Returns all records of a collection, or those that pass a filter, as a file that can be imported.',
  scope: 'app_admin',
  key: 'records:read',
  query: object({
    format: described(
      optional(oneOf(transferFormats)),
      'ndjson: one record a line, as JSON; the default. csv: comma-separated values with a first line of names.',
    ),
    fields: described(
      optional(string()),
      'The fields and timestamps to export, separated by commas; default all. The id is always there.',
    ),
    filter: described(optional(string()), 'A filter expression. Only records that pass it are exported.'),
  }),
  status: 200,
  response: described(string(), 'One record a line, in the order of their ids.'),
  contentType: 'application/x-ndjson',
  rawTypes: { 'text/csv': 'With `format=csv`: a line of names, and one record a line.' },
  errors: ['unknown_column', 'parse_error', 'conflict'],
  admit: ({ deps, target, principal, now, queryParameters }) =>
    admit(deps, target, 'list', { principal, now, query: queryParameters() }),
  handle: ({ deps, target, admitted: access, principal, query: { format = 'ndjson', fields, filter } }) => {
    const requireCaller = () => requireStillAdmitted(deps, target.app, principal);
    return exportRecords(deps, target, { access, format, fields, filter, requireCaller });
  },
});

/** Imports records. */
export const recordsImport = route({
  method: 'POST',
  path: `${records}/import`,
  summary: 'Creates the records of a file, which is NDJSON or CSV by its `Content-Type`.',
  scope: 'app_admin',
  key: 'records:write',
  readsBody: true,
  query: object({
    on_error: described(
      optional(oneOf(['abort', 'skip'])),
      'What is done about a wrong line. abort: nothing is imported; the default. skip: all other lines are.',
    ),
    dry_run: described(optional(boolean()), 'Does the same, and stores nothing.'),
  }),
  status: 200,
  response: object({
    created: described(integer(), 'The number of records that were created.'),
    skipped: described(integer(), 'The number of lines that were not.'),
    errors: described(
      array(object({ path: string(), code: string(), message: string() })),
      'What is wrong with the first lines that were skipped, such as `line 17: title`.',
    ),
  }),
  errors: ['conflict', 'deserialization'],
  handle: async (
    {
      deps,
      target,
      principal,
      query: { on_error: onError = 'abort', dry_run: isDryRun = false },
      bodyStream,
      now,
    },
  ) => {
    const { header, bytes } = bodyStream();
    requireUncoded(header('content-encoding'));
    const format = formatOfType(header('content-type')) ??
      fail('deserialization', 'the Content-Type must be application/x-ndjson or text/csv');
    const requireCaller = () => requireStillAdmitted(deps, target.app, principal);
    const { created, skipped, errors } = await importRecords(deps, target, {
      format,
      bytes,
      onError,
      isDryRun,
      requireCaller,
      now,
    });
    return { created, skipped, errors: errorBody(fieldsError('validation', errors)).errors ?? [] };
  },
});
