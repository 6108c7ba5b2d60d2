// Creating an app: role, schema, tables, row and audit entry in one transaction of the workspace's database.
import { insertApp } from '../../storage/apps.ts';
import type { AppRow } from '../../storage/apps.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { opaqueName } from '../../storage/ids.ts';
import { currentVersions } from '../../storage/provision.ts';
import { createAppSchema } from '../../storage/provision-app.ts';
import { actorOf, type By } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

type CreateDeps = Pick<Deps, 'databases' | 'provisioning' | 'newId' | 'now'>;

/** What a workspace admin asks for. */
export interface NewApp {
  /** A new v7 UUID when left out. */
  id?: string | undefined;
  name: string;
}

/** Answers the new app. Throws `409 conflict` for an id that is taken in the workspace, which stays as it is. */
export async function createApp(
  deps: CreateDeps,
  workspace: WorkspaceDefinition,
  { id = deps.newId(), name, by }: NewApp & { by: By },
): Promise<AppRow> {
  const { databases, provisioning } = deps;
  const { database } = workspace;
  const schema = opaqueName('a_');
  const actor = await actorOf(deps, by.principal);
  const { app: version } = currentVersions(provisioning.migrations);
  const app = await databases.provisioner(database).transaction(async (sql) => {
    const row = await insertApp(sql, { id, name, schema, version, now: by.now });
    await createAppSchema(sql, provisioning, { database, schema });
    await auditWorkspace(sql, deps, {
      actor,
      action: 'app_create',
      target: id,
      details: { name },
      origin: by.origin,
    });
    return row;
  }).catch((error: unknown) => isTaken(error) ? failTaken(id) : Promise.reject(error));
  // Its first collection is likely to follow.
  void databases.app(database, schema).warm();
  return app;
}

function isTaken(error: unknown): boolean {
  return error instanceof StorageError && error.constraint === 'apps_id';
}

function failTaken(id: string): never {
  fail('conflict', `app "${id}" already exists`);
}
