// Reads the definition of an app from where its parts are: the app's schema, the control database, and the folder of hook files.
import { selectCollections } from '../../storage/app/collections.ts';
import { listHookVariables } from '../../storage/app/hook-environment.ts';
import { listPoliciesFor } from '../../storage/control/policies.ts';
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import type { Config } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { hookFolder, readFolder } from '../hooks/files/folder.ts';
import { storedSpec } from '../policies/stored.ts';
import {
  byName,
  collectionDocument,
  type DefinitionDocument,
  documentVersion,
  type HookDocument,
  type PolicyDocument,
} from './document.ts';

/** The dependencies of reading a definition. */
export type ReadDeps = Pick<Deps, 'databases'> & { config: Pick<Config, 'hooks'> };

/** Reads the definition as it is now. Throws `409 conflict` for a hook file that cannot be read. */
export async function readDefinition(deps: ReadDeps, app: AppDefinition): Promise<DefinitionDocument> {
  const pool = deps.databases.app(app.workspace.database, app.schema);
  const [collections, variables] = await pool.run(async (sql) => [
    await selectCollections(sql, app.schema),
    await listHookVariables(sql, app.schema),
  ]);
  return {
    version: documentVersion,
    collections: collections.map(collectionDocument).sort(byName(({ id }) => id)),
    policies: await readPolicies(deps, app),
    hooks: await readHooks(deps, app),
    variables: variables.map(({ name }) => name),
  };
}

/** What the app itself has set. */
async function readPolicies({ databases }: ReadDeps, app: AppIdentity): Promise<PolicyDocument[]> {
  const rows = await databases.control.run((sql) => listPoliciesFor(sql, app.workspace.id));
  return rows.filter((row) => row.workspace === app.workspace.id && row.app === app.id)
    .map(({ field, spec }) => ({ field, spec: storedSpec(spec) }))
    .sort(byName(({ field }) => field));
}

async function readHooks({ config }: ReadDeps, app: AppIdentity): Promise<HookDocument[]> {
  const files = await readFolder(hookFolder(config, app));
  return files.map((file) => {
    if ('source' in file) return { filename: file.filename, source: file.source };
    fail('conflict', `hook file "${file.filename}" ${file.fault}`);
  }).sort(byName(({ filename }) => filename));
}
