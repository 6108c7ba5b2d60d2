// Routes of an app's hooks: variables, logs, status, types.
import { listVariables, putVariable, removeVariable, showVariable } from '../hooks/environment.ts';
import { serveLog } from '../hooks/logs/log-stream.ts';
import { pageOfLog } from '../hooks/logs/log.ts';
import { runJobByHand } from '../hooks/jobs/by-hand.ts';
import { declareTypes } from '../hooks/files/types.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { RawResponse, route } from '../contract/route.ts';
import {
  array,
  boolean,
  described,
  fieldMap,
  integer,
  nullable,
  object,
  okResponse,
  oneOf,
  optional,
  pageSchema,
  string,
  timestamp,
} from '../contract/schema.ts';
import { fault, runningFile } from './hook-files.ts';

const variable = object({ name: string(), updated_at: timestamp() });

/** Lists the names of variables. */
export const hookVariablesList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks/env',
  summary: 'Lists the names of the variables that hooks read as `$app.env`. Their values are never shown.',
  scope: 'app_admin',
  key: 'hooks:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(variable),
  handle: ({ deps, target, query }) => listVariables(deps, target.app, toPageRequest(query)),
});

/** Shows that a variable exists. */
export const hookVariablesShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks/env/:variable',
  summary: 'Returns the time when a variable was set. Its value is never shown.',
  scope: 'app_admin',
  key: 'hooks:read',
  status: 200,
  response: variable,
  errors: ['validation'],
  handle: ({ deps, target, params }) => showVariable(deps, target.app, params.variable),
});

/** Sets a variable. */
export const hookVariablesPut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/apps/:app/hooks/env/:variable',
  summary: 'Sets a variable and loads the hooks of the app again.',
  scope: 'app_admin',
  key: 'hooks:write',
  body: object({ value: string() }),
  needsDisk: true,
  status: 200,
  response: variable,
  errors: ['conflict'],
  handle: ({ deps, target, params, body: { value }, principal, origin, now }) =>
    putVariable(deps, target.app, { name: params.variable, value, by: { principal, origin, now } }),
});

/** Removes a variable. */
export const hookVariablesRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app/hooks/env/:variable',
  summary: 'Removes a variable and loads the hooks of the app again.',
  scope: 'app_admin',
  key: 'hooks:write',
  status: 200,
  response: okResponse,
  errors: ['validation'],
  handle: async ({ deps, target, params, principal, origin, now }) => {
    await removeVariable(deps, target.app, { name: params.variable, by: { principal, origin, now } });
    return { ok: true };
  },
});

const entry = object({
  ts: string({ format: 'date-time' }),
  level: oneOf(['debug', 'info', 'warn', 'error']),
  message: string(),
  file: nullable(string()),
  request_id: nullable(string()),
  fields: nullable(fieldMap('The fields given to `$app.log`, or the place where an error was thrown.')),
});

/** Reads or follows the log. */
export const hookLogs = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks/logs',
  summary: 'Returns the log of the app’s hooks, newest first. With `follow=true` as Server-Sent Events.',
  scope: 'app_admin',
  key: 'hooks:read',
  query: object({
    ...pageQueryMembers,
    follow: described(
      optional(boolean()),
      'Sends the last lines and then every new one, oldest first, as events `log`.',
    ),
  }),
  status: 200,
  response: pageSchema(entry),
  rawTypes: { 'text/event-stream': 'With `follow=true`: events `log`, each with an entry as JSON.' },
  handle: async ({ deps, target: { app }, principal, query: { follow, ...page } }) => {
    const log = deps.hooks.log(app);
    if (follow !== true) return pageOfLog(await log.read(), toPageRequest(page));
    log.requireFollowerSlot();
    return new RawResponse(({ response, headers }) =>
      serveLog(deps, log, { response, headers, principal, app })
    );
  },
});

/** Shows the state of the hooks. */
export const hookStatus = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks/status',
  summary: 'Returns the registered handlers, how often they ran and failed, and what their process uses.',
  scope: 'app_admin',
  key: 'hooks:read',
  status: 200,
  response: object({
    processes: described(integer(), 'Number of API processes that responded.'),
    running: boolean(),
    generation: nullable(integer()),
    loaded: described(array(string()), 'Names of the files that are in effect as they are.'),
    files: array(runningFile),
    errors: described(array(fault), 'What is wrong with the files as they were loaded last.'),
    registrations: object({ hooks: integer(), routes: integer(), jobs: integer() }),
    jobs: array(
      object({
        name: string(),
        expression: string(),
        last_run: nullable(string({ format: 'date-time' })),
        next_run: nullable(string({ format: 'date-time' })),
      }),
    ),
    runs: integer(),
    failed_runs: integer(),
    last_kill: nullable(oneOf(['protocol_error', 'timeout', 'not_reading', 'cpu', 'memory', 'exited'])),
    in_flight: integer(),
    cpu_ms: nullable(integer()),
    rss_bytes: nullable(integer()),
  }),
  handle: ({ deps, target }) => deps.hooks.state(target.app),
});

/** Responds with type declarations, for editors. */
export const hookTypes = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/hooks/types',
  summary:
    'Returns TypeScript declarations of everything that hooks can use, with the fields of the app’s collections.',
  scope: 'app_admin',
  key: 'hooks:read',
  status: 200,
  contentType: 'text/plain; charset=utf-8',
  response: string(),
  handle: ({ target }) => declareTypes(target.app),
});

/** Runs a job by hand. */
export const hookJobsRun = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps/:app/hooks/jobs/:name/run',
  summary: 'Runs a job of the app’s hooks now, and returns how that ended.',
  scope: 'app_admin',
  key: 'hooks:write',
  body: object({}),
  bodyMayBeEmpty: true,
  status: 200,
  response: object({
    name: string(),
    status: described(oneOf(['done', 'failed']), '`failed`: its handler threw, or did not finish.'),
    duration_ms: integer(),
    errors: array(fault),
  }),
  errors: ['conflict', 'hook_error', 'hook_busy', 'hook_unavailable'],
  handle: ({ deps, target, params: { name }, principal, origin, now }) =>
    runJobByHand(deps, target.app, { name, by: { principal, origin, now } }),
});
