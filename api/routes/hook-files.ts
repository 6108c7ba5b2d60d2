// Hook files of an app.
import {
  listHookFiles,
  putHookFile,
  reloadHooks,
  removeHookFile,
  showHookFile,
} from '../hooks/files/files.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import {
  array,
  boolean,
  described,
  integer,
  nullable,
  object,
  pageSchema,
  string,
  timestamp,
} from '../contract/schema.ts';

const fileMembers = {
  filename: string(),
  size: described(integer({ min: 0 }), 'In bytes.'),
  updated_at: timestamp(),
};
/** A file, and which version of it runs. */
export const runningFile = object({
  ...fileMembers,
  running_since: described(
    nullable(timestamp()),
    'When the version that runs loaded first; null where none runs.',
  ),
  is_current: described(
    boolean(),
    'False while an older version runs, or none, because the file does not load.',
  ),
});
/** An error of a hook file. */
export const fault = object({
  file: string(),
  message: string(),
  line: nullable(integer()),
  column: nullable(integer()),
});
const loading = object({
  loaded: described(array(string()), 'Names of the files that are in effect as they are.'),
  errors: described(
    array(fault),
    'Why other files, and jobs, are not. Of a file that has loaded before, that version stays in effect.',
  ),
});

/** Lists the files. */
export const hookFilesList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks',
  summary: 'Lists the hook files of an app, ordered by name, and which version of each runs.',
  scope: 'app_admin',
  key: 'hooks:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(runningFile),
  handle: ({ deps, target, query }) => listHookFiles(deps, target.app, toPageRequest(query)),
});

/** Shows a file. */
export const hookFilesShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks/:filename',
  summary: 'Returns a hook file with its source.',
  scope: 'app_admin',
  key: 'hooks:read',
  status: 200,
  response: object({ ...fileMembers, source: string() }),
  errors: ['validation', 'conflict'],
  handle: ({ deps, target, params: { filename } }) => showHookFile(deps, target.app, filename),
});

/** Creates or replaces a file. */
export const hookFilesPut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/apps/:app/hooks/:filename',
  summary: 'Writes a hook file and loads the hooks of the app again.',
  scope: 'app_admin',
  key: 'hooks:write',
  body: object({ source: string() }),
  needsDisk: true,
  status: 200,
  response: object({
    file: object(fileMembers),
    reload: loading,
    warnings: described(
      array(fault),
      'What the type checker finds. The file is in effect nevertheless.',
    ),
  }),
  errors: ['conflict'],
  handle: ({ deps, target, params: { filename }, body: { source }, principal, origin, now }) =>
    putHookFile(deps, target.app, { filename, source, by: { principal, origin, now } }),
});

/** Deletes a file. */
export const hookFilesRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app/hooks/:filename',
  summary: 'Deletes a hook file and loads the hooks of the app again.',
  scope: 'app_admin',
  key: 'hooks:write',
  status: 200,
  response: loading,
  errors: ['validation'],
  handle: ({ deps, target, params: { filename }, principal, origin, now }) =>
    removeHookFile(deps, target.app, { filename, by: { principal, origin, now } }),
});

/** Loads the files again as they are on disk. */
export const hookFilesReload = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps/:app/hooks/reload',
  summary: 'Loads the hooks of an app again from the files on disk.',
  scope: 'app_admin',
  key: 'hooks:write',
  body: object({}),
  bodyMayBeEmpty: true,
  status: 200,
  response: loading,
  handle: ({ deps, target, principal, origin, now }) =>
    reloadHooks(deps, target.app, { principal, origin, now }),
});
