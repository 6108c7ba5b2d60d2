// Users as records of the built-in collection `users`: what an app may see of them.
import type { AppDefinition } from '../../storage/definition.ts';
import { usersCollection } from '../../storage/workspace/identities.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { planFor, type StoredRecord } from '../../storage/app/records/plan.ts';
import { selectRecord } from '../../storage/app/records/records.ts';
import type { Deps } from '../deps.ts';

/**
 * The user with this id, or undefined; with the rights of the app, so without a hash or a secret. Throws `StorageError`.
 */
export async function findUserRecord(
  { databases }: Pick<Deps, 'databases'>,
  app: AppDefinition,
  id: string,
): Promise<StoredRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const plan = planFor(app.schema, usersCollection(app));
  return await databases.app(app.workspace.database, app.schema).run((sql) => selectRecord(sql, plan, id));
}
