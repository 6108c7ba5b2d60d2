// The variables that an app's hooks read as `$app.env`: set by its admins, kept sealed, never shown again.
import { variableOwner } from '../../storage/secrets.ts';
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import {
  deleteHookVariable,
  hookVariableSetAt,
  listHookVariables,
  putHookVariable,
} from '../../storage/app/hook-environment.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { type Page, type PageRequest, slicePage } from '../../storage/sql/page.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditApp } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail, failValidation } from '../errors.ts';
import type { HookLoader } from './ports.ts';
import { reloadInAllProcesses } from './files/reload.ts';

type ReadDeps = Pick<Deps, 'databases'>;
type ChangeDeps = Pick<Deps, 'databases' | 'secrets' | 'newId' | 'now'> & { hooks: HookLoader };

/** A variable without its value. */
export interface HookVariableResponse {
  name: string;
  updated_at: Date;
}

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const maxVariables = 100;
/** Longest value in bytes. */
const maxValueBytes = 32_768;

/** Their names, in order. */
export async function listVariables(
  deps: ReadDeps,
  app: AppIdentity,
  page: PageRequest,
): Promise<Page<HookVariableResponse>> {
  const all = await listRows(deps, app);
  return slicePage(all.map(({ name, updated_at }) => ({ name, updated_at })), page);
}

/** One of them. Throws `400 validation` for its name, `404 not_found`. */
export async function showVariable(
  deps: ReadDeps,
  app: AppIdentity,
  name: string,
): Promise<HookVariableResponse> {
  checkName(name);
  const { workspace, schema } = app;
  const pool = deps.databases.app(workspace.database, schema);
  const updated_at = await pool.run((sql) => hookVariableSetAt(sql, schema, name)) ?? failNoVariable(name);
  return { name, updated_at };
}

/** Sets one; hooks have it when this resolves. Throws `400 validation`, `409 conflict` when there are too many. */
export async function putVariable(
  deps: ChangeDeps,
  app: AppDefinition,
  { name, value, by }: { name: string; value: string; by: Caller },
): Promise<HookVariableResponse> {
  checkName(name);
  if (Buffer.byteLength(value) > maxValueBytes) {
    failValidation([{ field: 'value', reason: `must have at most ${maxValueBytes} bytes` }]);
  }
  const sealed = deps.secrets.seal('hook-environment', variableOwner(app.schema, name), Buffer.from(value));
  const actor = await readActorName(deps, by.principal);
  await deps.databases.app(app.workspace.database, app.schema).transaction(async (sql) => {
    const details = await auditDetails(sql, app, name);
    const variable = { name, sealed, updated_at: by.now, max: maxVariables };
    if (!await putHookVariable(sql, app.schema, variable)) {
      fail('conflict', `the app has ${maxVariables} variables, the most it can have`);
    }
    await auditApp(sql, deps, { actor, action: 'hook_env_set', target: name, details, origin: by.origin });
  });
  await reloadInAllProcesses(deps, app);
  return { name, updated_at: by.now };
}

/** Removes one. Throws `400 validation` for its name, `404 not_found`. */
export async function removeVariable(
  deps: ChangeDeps,
  app: AppDefinition,
  { name, by }: { name: string; by: Caller },
): Promise<void> {
  checkName(name);
  const actor = await readActorName(deps, by.principal);
  await deps.databases.app(app.workspace.database, app.schema).transaction(async (sql) => {
    const details = await auditDetails(sql, app, name);
    if (!await deleteHookVariable(sql, app.schema, name)) failNoVariable(name);
    await auditApp(sql, deps, { actor, action: 'hook_env_delete', target: name, details, origin: by.origin });
  });
  await reloadInAllProcesses(deps, app);
}

/** All of them with their values, for the runner of this app alone. */
export async function openEnvironment(
  deps: Pick<Deps, 'databases' | 'secrets'>,
  app: AppIdentity,
): Promise<Record<string, string>> {
  const rows = await listRows(deps, app);
  return Object.fromEntries(rows.map(({ name, sealed }) => {
    const value = deps.secrets.open('hook-environment', variableOwner(app.schema, name), sealed);
    return [name, value.toString('utf8')];
  }));
}

/** The audit log's entry for a variable as it was. Its value is a secret. */
async function auditDetails(sql: Sql, { schema }: AppIdentity, name: string) {
  const setAt = await hookVariableSetAt(sql, schema, name);
  return { from: setAt === undefined ? null : { updated_at: setAt.toISOString() } };
}

function listRows({ databases }: ReadDeps, { workspace, schema }: AppIdentity) {
  return databases.app(workspace.database, schema).run((sql) => listHookVariables(sql, schema));
}

function checkName(name: string): void {
  if (namePattern.test(name)) return;
  const reason = 'must be letters, digits and _, not begin with a digit, and have at most 128 characters';
  failValidation([{ field: 'name', reason }]);
}

function failNoVariable(name: string): never {
  fail('not_found', `hook variable "${name}" does not exist`);
}
